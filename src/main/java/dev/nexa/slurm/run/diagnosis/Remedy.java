package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Span;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
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

  /** A remedy of the memory estimate that is one key of a config. */
  private static final Pattern ONE_KEY = Pattern.compile("([a-z_.]+): (\\S+)");

  private static final String CHECKPOINTING = "options.gradient_checkpointing";

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
   * @param memory what the run's estimate says of the memory of a GPU; empty if it is not known
   * @param peak the memory that the largest task used, in bytes; empty if it is not known
   */
  static Optional<Remedy> of(
      Optional<Finding> root, JsonObject plan, Optional<JsonObject> memory, Optional<Long> peak) {
    long allocated = root.flatMap(Finding::line).map(Remedy::allocated).orElse(0L);
    JsonObject allocation = plan.object("allocation");
    return switch (root.map(Finding::failure).orElse("")) {
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
      case "gpu-memory" -> ofGpu(plan, memory);
      default -> Optional.empty();
    };
  }

  /** Returns the change after a GPU ran out of memory: by the estimate, else by trial. */
  static Optional<Remedy> ofGpu(JsonObject plan, Optional<JsonObject> memory) {
    return estimated(plan, memory).or(() -> smaller(plan));
  }

  /**
   * Returns the first change that is enough by the estimate; empty if it expected the run to fit.
   */
  private static Optional<Remedy> estimated(JsonObject plan, Optional<JsonObject> memory) {
    return memory.map(known -> known.texts("remedies")).orElse(List.of()).stream()
        .map(ONE_KEY::matcher)
        .filter(Matcher::matches)
        .findFirst()
        .map(it -> new Remedy(it.group(1), now(plan, it.group(1)), it.group(2)));
  }

  private static Optional<Remedy> smaller(JsonObject plan) {
    if (now(plan, CHECKPOINTING).equals("false")) {
      return Optional.of(new Remedy(CHECKPOINTING, "false", "true"));
    }
    String batch = now(plan, "batch_size");
    return batch.matches("[1-9][0-9]{0,8}") && Integer.parseInt(batch) > 1
        ? Optional.of(new Remedy("batch_size", batch, "" + Integer.parseInt(batch) / 2))
        : Optional.empty();
  }

  private static String now(JsonObject plan, String key) {
    boolean option = key.startsWith("options.");
    Object value =
        plan.optionalObject(option ? "options" : "training")
            .map(keys -> keys.members().get(option ? key.substring(8) : key))
            .orElse(null);
    return value == null ? "not set" : value.toString();
  }
}
