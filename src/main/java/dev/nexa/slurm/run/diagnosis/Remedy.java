package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Span;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A value of the run's config that a failure suggests to change. Pure.
 *
 * @param key the config's key
 * @param now the value of the failed run
 * @param next the value to try
 */
public record Remedy(String key, String now, String next) {
  private static final long GIB = 1L << 30;

  /** More than any node has: such an allocation is a mistake in the program. */
  private static final long MOST = 4096 * GIB;

  private static final Pattern ALLOCATED = Pattern.compile("tried to allocate (\\d{1,18}) bytes");

  /** Returns the bytes that the line says were asked for at once; 0 if it does not say. */
  private static long allocated(Finding.Place place) {
    Matcher matcher = ALLOCATED.matcher(place.line().text());
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  /**
   * Returns the change for a class of failure; empty if no key has an obvious next value.
   *
   * @param root the cause; its line may say how much memory was asked for
   * @param plan the run's plan.json
   * @param peak the memory that the largest task used, in bytes; empty if it is not known
   */
  static Optional<Remedy> of(Optional<Finding> root, JsonObject plan, Optional<Long> peak) {
    String failure = root.map(Finding::failure).orElse("");
    long allocated = root.flatMap(Finding::line).map(Remedy::allocated).orElse(0L);
    JsonObject allocation = plan.object("allocation");
    return switch (failure) {
      case "host-memory" -> {
        long now = allocation.optionalDecimal("memory_bytes").orElse(BigDecimal.ZERO).longValue();
        long wanted = Math.max(now + now / 2, peak.orElse(0L) + peak.orElse(0L) / 4);
        wanted = Math.max(wanted, now + allocated);
        long rounded = (wanted + GIB - 1) / GIB * GIB;
        yield now == 0 || allocated > MOST
            ? Optional.empty()
            : Optional.of(new Remedy("resources.memory", Memory.words(now), Memory.words(rounded)));
      }
      case "time-limit" -> {
        Duration now = Duration.ofSeconds(allocation.number("time_limit_seconds"));
        yield Optional.of(
            new Remedy("resources.time", Span.text(now), Span.text(now.multipliedBy(2))));
      }
      case "gpu-memory" -> {
        Optional<BigDecimal> batch =
            plan.optionalObject("training").flatMap(keys -> keys.optionalDecimal("batch_size"));
        yield batch.isEmpty() || batch.get().longValue() < 2
            ? Optional.empty()
            : Optional.of(
                new Remedy(
                    "batch_size", batch.get().toPlainString(), "" + batch.get().longValue() / 2));
      }
      default -> Optional.empty();
    };
  }
}
