package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import org.jspecify.annotations.Nullable;

/**
 * A job id as the user types it: {@code 123} (all tasks and components, or Slurm's own id of one of
 * them), {@code 123_4}, {@code 123+1}.
 *
 * @param text as typed
 */
public record JobReference(String text) {
  /**
   * Checks the form of the id.
   *
   * @throws NexaException if the text is no job id
   */
  public JobReference {
    if (parsed(text) == null) {
      throw ErrorCode.OPTION_INVALID.error(
          "expected a job id such as 123, 123_4 or 123+1, got '" + text + "'",
          "a run of ours is shown by: nexa-slurm runs show " + text);
    }
  }

  private static @Nullable UsageId parsed(String text) {
    UsageId id = UsageId.parse(null, text);
    return id == null || id.tasks() != null ? null : id;
  }

  /** Returns whether this reference names the job, or one task of the job's range. */
  public boolean names(JobUsage job) {
    UsageId id = parsed(text);
    if (id == null) {
      return false;
    }
    UsageId subject = job.subject();
    if (id.task() == UsageId.NONE && id.het() == UsageId.NONE) {
      Long raw = job.rawJobId();
      return subject.job() == id.job() || (raw != null && raw == id.job());
    }
    return subject.job() == id.job()
        && (id.task() == UsageId.NONE
            ? subject.het() == id.het()
            : subject.tasks() == null
                ? subject.task() == id.task()
                : subject.rangeHolds(id.task()));
  }
}
