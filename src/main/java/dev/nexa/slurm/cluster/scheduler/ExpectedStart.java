package dev.nexa.slurm.cluster.scheduler;

import java.time.Instant;
import java.util.Optional;

/**
 * The time at which the scheduler expects to start a job, judged by the present queue.
 *
 * @param at the expected start; empty if the job would not start, or the start is not known
 * @param refused whether the scheduler says that the job would not start
 * @param why why the job would not start, or why the start is not known; empty if it would start,
 *     or if no scheduler was asked
 * @param cpus the CPUs that the job would get on all its nodes; 0 if that is not known
 */
public record ExpectedStart(Optional<Instant> at, boolean refused, String why, int cpus) {
  /** The start is not known, and no scheduler was asked. */
  public static final ExpectedStart UNKNOWN = unknown("");

  /** Returns an expected start at this time, with so many CPUs. */
  public static ExpectedStart at(Instant at, int cpus) {
    return new ExpectedStart(Optional.of(at), false, "", cpus);
  }

  /**
   * Returns the answer for a job that would not start.
   *
   * @param why the scheduler's reason
   */
  public static ExpectedStart never(String why) {
    return new ExpectedStart(Optional.empty(), true, why, 0);
  }

  /**
   * Returns the answer if the scheduler gave none.
   *
   * @param why what happened instead
   */
  public static ExpectedStart unknown(String why) {
    return new ExpectedStart(Optional.empty(), false, why, 0);
  }
}
