package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.error.NexaException;
import java.math.BigDecimal;
import java.net.URI;
import java.time.LocalDate;
import java.time.YearMonth;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A provider's API for billed costs. {@link AwsJar} finds the implementation. */
public interface CostSource {
  /**
   * A query.
   *
   * @param from the first day, which begins a month
   * @param to the day after the last day, which begins a month
   * @param tag the key of the tag whose value is the run's id
   * @param daily whether charges are reported by day, not by month
   * @param profile a profile of the shared AWS files; if empty, the SDK's default chain finds the
   *     credentials
   * @param region the region; requests are signed for it
   * @param endpoint replaces the region's endpoint
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
   * The complete answer, from all pages.
   *
   * @param charges in the provider's order
   * @param estimated the months that have an amount that is not final
   * @param requests the number of pages
   */
  record Answer(List<Charge> charges, Set<YearMonth> estimated, int requests) {}

  /**
   * One amount.
   *
   * @param day the first day that it covers
   * @param tagValue the tag's value; empty if the charged resource lacks the tag
   * @param service the provider's service
   * @param amount the exact amount
   * @param currency ISO 4217 code
   * @param estimated whether the provider may still correct the amount
   */
  record Charge(
      LocalDate day,
      String tagValue,
      String service,
      BigDecimal amount,
      String currency,
      boolean estimated) {}

  /**
   * Sends the query.
   *
   * @throws NexaException if there is no complete answer
   */
  Answer ask(Question question);
}
