package dev.nexa.slurm.cluster.scheduler;

import java.time.Instant;
import java.util.Optional;

/**
 * The time at which the scheduler expects to start a job, given the queue as it is now.
 *
 * @param at the expected start; empty if the job would not start, or the start is not known
 * @param why the scheduler's reason why the job would not start; empty if it would start, or if
 *     nothing is known
 */
public record ExpectedStart(Optional<Instant> at, String why) {
  /** Nothing is known about the start, for example because no queue could be asked. */
  public static final ExpectedStart UNKNOWN = never("");

  /** Returns an expected start at this time. */
  public static ExpectedStart at(Instant at) {
    return new ExpectedStart(Optional.of(at), "");
  }

  /**
   * Returns the answer for a job that would not start.
   *
   * @param why the scheduler's reason
   */
  public static ExpectedStart never(String why) {
    return new ExpectedStart(Optional.empty(), why);
  }
}
