package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How attempts grow: in memory after an out-of-memory, in time after a time-out, and after nothing
 * else.
 *
 * @param memoryBy the factor of the memory
 * @param mostMemoryBytes the most memory on each node; empty if memory does not grow
 * @param timeBy the factor of the time limit
 * @param mostTime the longest time limit; empty if it does not grow
 */
public record Growth(
    BigDecimal memoryBy,
    Optional<Long> mostMemoryBytes,
    BigDecimal timeBy,
    Optional<Duration> mostTime) {
  private static final long MIB = 1 << 20;
  private static final BigDecimal TWICE = BigDecimal.valueOf(2);

  static Growth from(Values grow) {
    Values memory = grow.section("memory");
    Values time = grow.section("time");
    return new Growth(
        memory.optionalDecimal("by").orElse(TWICE),
        memory.optionalBytes("up_to"),
        time.optionalDecimal("by").orElse(TWICE),
        time.optionalDuration("up_to"));
  }

  static void check(Values values, List<Problem> problems) {
    Values grow = values.section("grow");
    if (values.optionalText("stage").orElse("").equals("serve")) {
      problems.add(values.problem("grow", "a server is started again as it was; leave it out"));
    } else if (values.optionalInteger("requeues").orElse(0) == 0 && !values.isWrong("requeues")) {
      problems.add(values.problem("grow", "needs requeues: 1 or more for another attempt"));
    }
    if (!grow.has("memory") && !grow.has("time") && !values.isWrong("grow")) {
      problems.add(
          values.problem("grow", "write what grows: memory: {up_to: 64G} or time: {up_to: 24h}"));
    }
    for (String what : List.of("memory", "time")) {
      Values section = grow.section(what);
      BigDecimal by = section.optionalDecimal("by").orElse(TWICE);
      if (by.compareTo(new BigDecimal("1.1")) < 0 || by.compareTo(BigDecimal.TEN) > 0) {
        problems.add(section.problem("by", "expected a factor from 1.1 to 10, such as 2"));
      }
    }
  }

  /** Returns a copy that grows no further than this; empty limits are unknown. */
  public Growth within(Optional<Long> memoryBytes, Optional<Duration> time) {
    Optional<Long> memory = mostMemoryBytes;
    if (memory.isPresent() && memoryBytes.isPresent() && memory.get() > memoryBytes.get()) {
      memory = memoryBytes;
    }
    Optional<Duration> longest = mostTime;
    if (longest.isPresent() && time.isPresent() && longest.get().compareTo(time.get()) > 0) {
      longest = time;
    }
    return new Growth(memoryBy, memory, timeBy, longest);
  }

  /**
   * Returns the memory on a node after so many growths.
   *
   * @param bytes the memory of the first attempt
   */
  public long memoryBytes(long bytes, int growths) {
    return mostMemoryBytes.isEmpty()
        ? bytes
        : MIB * grown(bytes, memoryBy, growths, mostMemoryBytes.get(), MIB);
  }

  /**
   * Returns the time limit after so many growths, in whole minutes.
   *
   * @param time the time limit of the first attempt
   */
  public Duration time(Duration time, int growths) {
    return mostTime.isEmpty()
        ? time
        : Duration.ofMinutes(
            grown(time.toSeconds(), timeBy, growths, mostTime.get().toSeconds(), 60));
  }

  private static long grown(long first, BigDecimal by, int growths, long most, long unit) {
    BigDecimal size = BigDecimal.valueOf(first);
    BigDecimal limit = BigDecimal.valueOf(Math.max(first, most));
    for (int i = 0; i < growths && size.compareTo(limit) < 0; i++) {
      size = size.multiply(by).min(limit);
    }
    return size.divide(BigDecimal.valueOf(unit), 0, RoundingMode.UP).longValueExact();
  }

  /** Adds a problem for each growth that ends where it begins. */
  public void checkRoom(Resources asked, ConfigPositions written, List<Problem> problems) {
    if (mostMemoryBytes.isPresent()
        && asked.memoryBytes().isPresent()
        && mostMemoryBytes.get() <= asked.memoryBytes().get()) {
      problems.add(
          written.problem("grow.memory.up_to", "must be more than resources.memory, the first size"));
    }
    if (mostTime.isPresent() && mostTime.get().compareTo(asked.time()) <= 0) {
      problems.add(
          written.problem("grow.time.up_to", "must be more than resources.time, the first limit"));
    }
  }
}
