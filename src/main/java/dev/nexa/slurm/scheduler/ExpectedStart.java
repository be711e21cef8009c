package dev.nexa.slurm.scheduler;

import java.time.Instant;
import java.util.Optional;

/**
 * When a job would begin, by the queue as it is now.
 *
 * @param at empty where it would not
 * @param why it would not, in the scheduler's words; empty where it would, or nobody was asked
 */
public record ExpectedStart(Optional<Instant> at, String why) {
  /** Of a job that goes to no queue that could be asked. */
  public static final ExpectedStart UNKNOWN = never("");

  public static ExpectedStart at(Instant at) {
    return new ExpectedStart(Optional.of(at), "");
  }

  public static ExpectedStart never(String why) {
    return new ExpectedStart(Optional.empty(), why);
  }
}
