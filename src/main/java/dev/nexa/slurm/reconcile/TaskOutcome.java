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
 * @param attempts its accounting rows, oldest first
 */
public record TaskOutcome(
    int task, JobState state, boolean ended, List<AccountingRecord> attempts) {

  boolean completed() {
    return ended && state == JobState.COMPLETED;
  }
}
