package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Ways in which jobs used resources without a result, or held more than they used. */
public enum Loss {
  FAILED("ended with an error"),
  OUT_OF_MEMORY("ran out of memory"),
  TIMEOUT("reached the time limit"),
  NODE_FAILED("lost a node"),
  PREEMPTED("preempted or requeued"),
  CANCELLED("cancelled"),
  IDLE_GPUS("used less than half of the GPUs"),
  IDLE_CPUS("used less than half of the CPUs, without GPUs"),
  IDLE_MEMORY("used less than half of the memory"),
  LONG_LIMIT("asked for more than four times the time needed");

  private static final long GIB = 1L << 30;

  /** The warning before the end, on which growing rests, comes a minute before it. */
  private static final long SHORT_SECONDS = 600;

  private final String words;

  Loss(String words) {
    this.words = words;
  }

  /** Returns what a job did: {@code ran out of memory}. */
  public String words() {
    return words;
  }

  /** Returns the name in JSON. */
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns how an attempt without a result ended; empty for one that has a result. */
  static Optional<Loss> of(JobState state) {
    return switch (state) {
      case FAILED -> Optional.of(FAILED);
      case OUT_OF_MEMORY -> Optional.of(OUT_OF_MEMORY);
      case TIMEOUT, DEADLINE -> Optional.of(TIMEOUT);
      case NODE_FAIL, BOOT_FAIL -> Optional.of(NODE_FAILED);
      case PREEMPTED, REQUEUED, REQUEUE_HOLD, SPECIAL_EXIT -> Optional.of(PREEMPTED);
      case CANCELLED -> Optional.of(CANCELLED);
      default -> Optional.empty();
    };
  }

  /**
   * Returns the command that helps with this loss.
   *
   * @param most the largest values of all jobs of that name, however they ended
   * @param example a job that lost much
   */
  String command(Held most, String example) {
    return switch (this) {
      case OUT_OF_MEMORY ->
          most.memory() == 0
              ? "nexa-slurm explain docs/retries.md"
              : "nexa-slurm submit SCRIPT --set requeues=1 --set grow.memory.up_to="
                  + gib(2 * most.memory());
      case TIMEOUT ->
          most.limit() == 0
              ? "nexa-slurm explain docs/retries.md"
              : most.limit() < SHORT_SECONDS
                  ? "nexa-slurm submit SCRIPT --time " + time(2 * most.limit() / 60)
                  : "nexa-slurm submit SCRIPT --set requeues=1 --set grow.time.up_to="
                      + (2 * ((most.limit() - 1) / 3600 + 1))
                      + "h";
      case FAILED, IDLE_GPUS -> "nexa-slurm submit SCRIPT --wait";
      case NODE_FAILED -> "nexa-slurm submit SCRIPT --set requeues=1";
      case PREEMPTED -> "nexa-slurm explain docs/backends.md";
      case CANCELLED -> "nexa-slurm estimate SCRIPT";
      case IDLE_CPUS -> "nexa-slurm usage " + example;
      case IDLE_MEMORY -> "nexa-slurm submit SCRIPT --mem " + gib(withMargin(most.memoryUsed()));
      case LONG_LIMIT -> "nexa-slurm submit SCRIPT --time " + limit(most);
    };
  }

  /** Returns what the command does, without a full stop. */
  String effect(Held most) {
    return switch (this) {
      case FAILED -> "`nexa-slurm why latest` then names the line that failed";
      case OUT_OF_MEMORY -> "only an attempt that ran out of memory gets more";
      case TIMEOUT ->
          most.limit() < SHORT_SECONDS
              ? "gives it more time"
              : "only an attempt that reached its limit gets more time";
      case NODE_FAILED -> "the next attempt leaves out the node that failed";
      case PREEMPTED -> "says how a program goes on from its checkpoint";
      case CANCELLED -> "prints the price before the job is submitted";
      case IDLE_GPUS -> "`nexa-slurm monitor show latest` then shows when its GPUs do nothing";
      case IDLE_CPUS -> "shows how much of its CPUs the job used";
      case IDLE_MEMORY -> "a quarter more than any job of this name used on a node";
      case LONG_LIMIT -> "half more than any job of this name took";
    };
  }

  /**
   * Returns whether the command would ask for less than such jobs ask for today. A job of the same
   * name may need all of it.
   */
  boolean helps(Held most, Held losing) {
    return switch (this) {
      case IDLE_MEMORY -> withMargin(most.memoryUsed()) < losing.memory();
      case LONG_LIMIT -> most.seconds() + most.seconds() / 2 < losing.limit();
      case CANCELLED -> false;
      default -> true;
    };
  }

  private static long withMargin(long bytes) {
    return bytes + bytes / 4;
  }

  private static String limit(Held most) {
    return time((most.seconds() + most.seconds() / 2) / 60 + 1);
  }

  private static String time(long minutes) {
    return TimeLimit.format(Duration.ofMinutes(Math.max(10, minutes)));
  }

  private static String gib(long bytes) {
    return Math.max(1, (bytes - 1) / GIB + 1) + "G";
  }

  /**
   * The largest values of some jobs; 0 if unknown.
   *
   * @param memory allocated bytes on a node
   * @param memoryUsed bytes that a job used on a node, on average; all that it had if it ran out of
   *     memory
   * @param limit the time limit in seconds
   * @param seconds the time that a job ran
   */
  record Held(long memory, long memoryUsed, long limit, long seconds) {
    static final Held NOTHING = new Held(0, 0, 0, 0);

    Held orMore(Held other) {
      return new Held(
          Math.max(memory, other.memory),
          Math.max(memoryUsed, other.memoryUsed),
          Math.max(limit, other.limit),
          Math.max(seconds, other.seconds));
    }
  }
}
