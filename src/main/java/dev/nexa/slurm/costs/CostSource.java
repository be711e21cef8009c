package dev.nexa.slurm.costs;

import dev.nexa.slurm.error.NexaException;
import java.math.BigDecimal;
import java.net.URI;
import java.time.LocalDate;
import java.time.YearMonth;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A provider that is asked for what it billed; found by {@link AwsModule}. */
public interface CostSource {
  /**
   * What is asked.
   *
   * @param from the first day, of a month
   * @param to the day after the last one, which is the first of a month
   * @param tag the key of the tag whose value is the run's id
   * @param daily whether there is a row for each day, not for each month
   * @param profile of the shared AWS files; if empty, the SDK's default chain finds the credentials
   * @param region the one that requests are signed for
   * @param endpoint instead of the region's own
   */
  record Question(
      LocalDate from,
      LocalDate to,
      String tag,
      boolean daily,
      Optional<String> profile,
      String region,
      Optional<URI> endpoint) {}

  /**
   * All of it, from every page.
   *
   * @param charges in the provider's order
   * @param estimated months of which some figure is not final
   * @param requests how many pages there were
   */
  record Answer(List<Charge> charges, Set<YearMonth> estimated, int requests) {}

  /**
   * One figure.
   *
   * @param day the first it is for
   * @param tagValue empty where what was paid for has no such tag
   * @param amount exactly as it was told
   */
  record Charge(
      LocalDate day,
      String tagValue,
      String service,
      BigDecimal amount,
      String currency,
      boolean estimated) {}

  /**
   * Asks.
   *
   * @throws NexaException if there is no whole answer
   */
  Answer ask(Question question);
}
