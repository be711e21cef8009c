package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.SlurmSize;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads values as squeue and scontrol print them.
 *
 * <p>Slurm prints "no value" as {@code N/A}, {@code None}, {@code Unknown}, {@code (null)}, {@code
 * UNLIMITED}, or as the numbers NO_VAL and INFINITE (4294967294 and 4294967295, slurm.h). Each of
 * these, and any text that is no value of the expected kind, reads as empty. Pure.
 */
final class PrintedValue {
  private PrintedValue() {}

  /** Returns a whole number that fits an int; empty if the text is none. */
  static Optional<Integer> count(String text) {
    OptionalLong number = SlurmSize.count(text.strip());
    return number.isPresent() && number.getAsLong() <= Integer.MAX_VALUE
        ? Optional.of((int) number.getAsLong())
        : Optional.empty();
  }

  /** Returns a job id, a positive number of 32 bits; empty if the text is none. */
  static Optional<Long> id(String text) {
    OptionalLong number = SlurmSize.count(text.strip());
    boolean known =
        number.isPresent() && number.getAsLong() > 0 && number.getAsLong() < 0xFFFF_FFFEL;
    return known ? Optional.of(number.getAsLong()) : Optional.empty();
  }

  /**
   * Returns an array's indices, such as {@code 7}, {@code 0-3%2} or {@code [0,2]}; an empty range
   * if the text names no task or Slurm has cut the list short.
   */
  static IndexRange tasks(String text) {
    String bare = text.strip();
    Optional<Integer> one = count(bare);
    if (one.isPresent() && one.get() <= IndexRange.MAX_INDEX) {
      // Most rows of squeue name one task.
      return IndexRange.of(one.get());
    }
    if (bare.startsWith("[") && bare.endsWith("]")) {
      bare = bare.substring(1, bare.length() - 1);
    }
    try {
      return IndexRange.parse(bare);
    } catch (IllegalArgumentException noTask) {
      return IndexRange.upTo(0);
    }
  }

  /**
   * Returns the {@code Key=value} pairs of a line. If a key comes again, its first value counts.
   */
  static Map<String, String> pairs(String line) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String word : line.strip().split(" +", -1)) {
      int equals = word.indexOf('=');
      if (equals > 0) {
        values.putIfAbsent(word.substring(0, equals), word.substring(equals + 1));
      }
    }
    return values;
  }

  /** Returns the time of 32-bit epoch seconds; empty for 0 and for any other text. */
  static Optional<Instant> time(String text) {
    return id(text).map(Instant::ofEpochSecond);
  }
}
