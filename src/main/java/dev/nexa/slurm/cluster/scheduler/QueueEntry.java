package dev.nexa.slurm.cluster.scheduler;

import java.time.Instant;
import java.util.Optional;

/**
 * One array task that the scheduler lists in its queue.
 *
 * @param rawJobId the job id of the task itself
 * @param arrayJobId the job id that sbatch printed
 * @param task the array index
 * @param state the state as squeue prints it
 * @param reason why the task does not run, as Slurm's reason code ({@code Resources}, {@code
 *     Dependency} …)
 * @param start when the task began, or is expected to begin; empty if not known
 * @param end when the task ended, or reaches its time limit; empty if not known
 * @param name the job's name; for our jobs, the submission's key
 */
public record QueueEntry(
    long rawJobId,
    long arrayJobId,
    int task,
    JobState state,
    String reason,
    Optional<Instant> start,
    Optional<Instant> end,
    String name) {

  /** Returns a copy whose task number is the run's: the array index plus the offset. */
  public QueueEntry plus(int offset) {
    return offset == 0
        ? this
        : new QueueEntry(rawJobId, arrayJobId, task + offset, state, reason, start, end, name);
  }

  /**
   * Returns whether the task waits for what cannot happen any more: squeue's reason
   * DependencyNeverSatisfied (squeue(1)).
   */
  public boolean neverStarts() {
    return reason.equals("DependencyNeverSatisfied");
  }

  /** Returns whether the task may still run: its state does not end a task. */
  public boolean active() {
    return !state.endsTask();
  }
}
