package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import java.util.List;

/**
 * Where one task stands.
 *
 * @param task its index over the run
 * @param state the newest thing known of it
 * @param ended whether it is over and will not run again
 * @param queued whether the scheduler holds it now
 * @param attempts its accounting rows, oldest first
 */
public record TaskOutcome(
    int task, JobState state, boolean ended, boolean queued, List<AccountingRecord> attempts) {

  /** A task that was cancelled before it began, and of which no row tells. */
  static TaskOutcome cancelledUnseen(int task) {
    return new TaskOutcome(task, JobState.CANCELLED, true, false, List.of());
  }

  boolean completed() {
    return ended && state == JobState.COMPLETED;
  }
}
