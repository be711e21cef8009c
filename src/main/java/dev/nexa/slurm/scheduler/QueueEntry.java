package dev.nexa.slurm.scheduler;

import java.time.Instant;
import java.util.Optional;

/**
 * One array task that the scheduler still holds.
 *
 * @param rawJobId the task's own id
 * @param arrayJobId the id sbatch printed
 * @param task the array index
 * @param state the one word squeue shows
 * @param reason why it is not running, in Slurm's word ({@code Resources}, {@code Dependency} …)
 * @param start when it began, or is expected to
 * @param end when it ended, or must have ended
 * @param name the job's name, which is the submission's key
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

  /** The entry under the run's own number of the task. */
  public QueueEntry plus(int offset) {
    return offset == 0
        ? this
        : new QueueEntry(rawJobId, arrayJobId, task + offset, state, reason, start, end, name);
  }

  /** Whether Slurm may still give this task time. */
  public boolean active() {
    return !state.endsTask();
  }
}
