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
 * @param memory bytes on each node; empty if memory does not grow
 * @param seconds the time limit; empty if it does not grow
 */
public record Growth(Optional<Limit> memory, Optional<Limit> seconds) {
  private static final BigDecimal TWICE = BigDecimal.valueOf(2);

  /**
   * How a size grows.
   *
   * @param by the factor
   * @param most the largest size
   */
  public record Limit(BigDecimal by, long most) {
    private Limit within(Optional<Long> other) {
      return new Limit(by, Math.min(most, other.orElse(most)));
    }

    /** Returns the size after so many growths, in multiples of a unit. */
    private long grown(long first, int growths, long unit) {
      BigDecimal size = BigDecimal.valueOf(first);
      BigDecimal limit = BigDecimal.valueOf(Math.max(first, most));
      for (int i = 0; i < growths && size.compareTo(limit) < 0; i++) {
        size = size.multiply(by).min(limit);
      }
      return size.divide(BigDecimal.valueOf(unit), 0, RoundingMode.UP).longValueExact() * unit;
    }
  }

  static Growth from(Values grow) {
    Optional<Duration> time = grow.section("time").optionalDuration("up_to");
    return new Growth(
        limit(grow.section("memory"), grow.section("memory").optionalBytes("up_to")),
        limit(grow.section("time"), time.map(Duration::toSeconds)));
  }

  private static Optional<Limit> limit(Values section, Optional<Long> most) {
    return most.map(it -> new Limit(section.optionalDecimal("by").orElse(TWICE), it));
  }

  static void check(Values values) {
    Values grow = values.section("grow");
    if (values.optionalText("stage").orElse("").equals("serve")) {
      values.report("grow", "a server is started again as it was; leave it out");
    } else if (values.optionalInteger("requeues").orElse(0) == 0 && !values.isWrong("requeues")) {
      values.report("grow", "needs requeues: 1 or more for another attempt");
    }
    if (!grow.has("memory") && !grow.has("time") && !values.isWrong("grow")) {
      values.report("grow", "write what grows: memory: {up_to: 64G} or time: {up_to: 24h}");
    }
    for (String what : List.of("memory", "time")) {
      Values section = grow.section(what);
      BigDecimal by = section.optionalDecimal("by").orElse(TWICE);
      if (by.compareTo(new BigDecimal("1.1")) < 0 || by.compareTo(BigDecimal.TEN) > 0) {
        section.report("by", "expected a factor from 1.1 to 10, such as 2");
      }
    }
  }

  /** Returns a copy that grows no further than this; empty limits are unknown. */
  public Growth within(Optional<Long> memoryBytes, Optional<Duration> time) {
    return new Growth(
        memory.map(limit -> limit.within(memoryBytes)),
        seconds.map(limit -> limit.within(time.map(Duration::toSeconds))));
  }

  /** Returns the memory on a node after so many growths of the first attempt's memory. */
  public long memoryBytes(long first, int growths) {
    return memory.isEmpty() ? first : memory.get().grown(first, growths, 1 << 20);
  }

  /** Returns the time limit after so many growths of the first attempt's limit. */
  public long seconds(long first, int growths) {
    return seconds.isEmpty() ? first : seconds.get().grown(first, growths, 60);
  }

  /** Returns a copy without the sizes that are at their largest already; empty if none is left. */
  public Optional<Growth> from(long memoryBytes, long firstSeconds) {
    Growth left =
        new Growth(
            memory.filter(limit -> limit.most() > memoryBytes),
            seconds.filter(limit -> limit.most() > firstSeconds));
    return left.memory.isEmpty() && left.seconds.isEmpty() ? Optional.empty() : Optional.of(left);
  }

  /** Adds a problem for each growth that ends where it begins. */
  public void checkRoom(Resources asked, ConfigPositions written, List<Problem> problems) {
    long first = asked.memoryBytes().orElse(0L);
    if (memory.isPresent() && memory.get().most() <= first) {
      problems.add(
          written.problem(
              "grow.memory.up_to", "must be more than resources.memory, the first size"));
    }
    if (seconds.isPresent() && seconds.get().most() <= asked.time().toSeconds()) {
      problems.add(
          written.problem("grow.time.up_to", "must be more than resources.time, the first limit"));
    }
  }
}
