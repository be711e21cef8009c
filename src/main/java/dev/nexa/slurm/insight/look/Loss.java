package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.time.Duration;
import java.util.Optional;

/** Ways in which jobs used resources without a result, or held more than they used. */
public enum Loss {
  FAILED("ended with an error"),
  OUT_OF_MEMORY("ran out of memory"),
  TIMEOUT("reached the time limit"),
  NODE_FAILED("lost a node"),
  PREEMPTED("were preempted or requeued"),
  CANCELLED("were cancelled"),
  IDLE_GPUS("used less than half of their GPUs"),
  IDLE_CPUS("used less than half of their CPUs, without GPUs"),
  IDLE_MEMORY("used less than half of their memory"),
  LONG_LIMIT("asked for more than four times the time that they needed");

  private static final long GIB = 1L << 30;

  private final String words;

  Loss(String words) {
    this.words = words;
  }

  /** Returns what the jobs did: {@code ran out of memory}. */
  public String words() {
    return words;
  }

  /** Returns the name in JSON. */
  public String key() {
    return name().toLowerCase(java.util.Locale.ROOT);
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
   * Returns the command that lowers this loss for jobs like these.
   *
   * @param held what the largest of them had and used
   */
  String command(Held held) {
    return switch (this) {
      case FAILED, IDLE_GPUS -> "nexa-slurm submit SCRIPT --wait";
      case OUT_OF_MEMORY ->
          "nexa-slurm submit SCRIPT --set requeues=2"
              + (held.memory() == 0
                  ? " --set grow.memory.up_to=64G"
                  : " --set grow.memory.up_to=" + gib(4 * held.memory()));
      case TIMEOUT ->
          "nexa-slurm submit SCRIPT --set requeues=2 --set grow.time.up_to="
              + (held.limit() == 0 ? "24h" : 4 * ((held.limit() - 1) / 3600 + 1) + "h");
      case NODE_FAILED -> "nexa-slurm submit SCRIPT --set requeues=2";
      case PREEMPTED -> "nexa-slurm interrupt latest";
      case CANCELLED -> "nexa-slurm estimate SCRIPT";
      case IDLE_CPUS -> "nexa-slurm submit SCRIPT --cpus " + Math.max(1, held.cpusUsed());
      case IDLE_MEMORY ->
          "nexa-slurm submit SCRIPT --mem " + gib(held.memoryUsed() + held.memoryUsed() / 4);
      case LONG_LIMIT ->
          "nexa-slurm submit SCRIPT --time "
              + TimeLimit.format(Duration.ofMinutes(Math.max(10, held.seconds() / 40)));
    };
  }

  /** Returns what the command does. */
  String effect() {
    return switch (this) {
      case FAILED -> "`nexa-slurm why latest` then names the line that failed";
      case OUT_OF_MEMORY -> "an attempt that ran out of memory is repeated with more memory";
      case TIMEOUT -> "an attempt that reached its limit is repeated with more time";
      case NODE_FAILED -> "the next attempt leaves out the node that failed";
      case PREEMPTED -> "rehearses a preemption: does the program go on from its checkpoint?";
      case CANCELLED -> "prints the price before the job is submitted";
      case IDLE_GPUS -> "`nexa-slurm monitor show latest` then shows when its GPUs do nothing";
      case IDLE_CPUS -> "as many CPUs as the busiest of these jobs used";
      case IDLE_MEMORY -> "a quarter more than the largest of these jobs used";
      case LONG_LIMIT -> "half more than the longest of these jobs took; short limits start sooner";
    };
  }

  private static String gib(long bytes) {
    return Math.max(1, (bytes - 1) / GIB + 1) + "G";
  }

  /**
   * The largest values of a group of jobs; 0 if unknown.
   *
   * @param memory allocated bytes of one job
   * @param memoryUsed bytes that one job used
   * @param cpusUsed CPUs that one job kept busy, rounded up
   * @param limit the time limit in seconds
   * @param seconds the time that one job ran
   */
  record Held(long memory, long memoryUsed, long cpusUsed, long limit, long seconds) {
    static final Held NOTHING = new Held(0, 0, 0, 0, 0);

    Held orMore(Held other) {
      return new Held(
          Math.max(memory, other.memory),
          Math.max(memoryUsed, other.memoryUsed),
          Math.max(cpusUsed, other.cpusUsed),
          Math.max(limit, other.limit),
          Math.max(seconds, other.seconds));
    }
  }
}
