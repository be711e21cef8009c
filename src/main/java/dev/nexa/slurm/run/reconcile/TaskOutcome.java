package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.util.List;

/**
 * The state of one task.
 *
 * @param task the task's number in the run
 * @param state the newest known state
 * @param ended whether the task has ended and will not run again
 * @param queued whether the queue lists the task now
 * @param attempts the task's accounting rows, oldest first
 */
public record TaskOutcome(
    int task, JobState state, boolean ended, boolean queued, List<AccountingRecord> attempts) {

  /** Returns a task that was cancelled before it began and has no row. */
  static TaskOutcome cancelledUnseen(int task) {
    return new TaskOutcome(task, JobState.CANCELLED, true, false, List.of());
  }

  /** Returns a copy of the task that has ended in an unknown way. */
  TaskOutcome lost() {
    return new TaskOutcome(task, JobState.VANISHED, true, false, attempts);
  }

  /**
   * Returns whether an attempt has ended without success and the task waits in the queue for the
   * next attempt.
   */
  boolean waitsAgain() {
    if (!queued || state != JobState.PENDING) {
      return false;
    }
    boolean again = false;
    for (AccountingRecord attempt : attempts) {
      // Slurm may list the attempt that waits, too.
      again = attempt.ended() ? attempt.state() != JobState.COMPLETED : again;
    }
    return again;
  }

  boolean completed() {
    return ended && state == JobState.COMPLETED;
  }
}
