package dev.nexa.slurm.cluster.scheduler;

import java.util.regex.Pattern;

/**
 * The outcome of one submit call. A job id does not prove yet that the job exists: package {@code
 * run.submit} confirms it.
 */
public sealed interface SubmitAnswer {

  /**
   * The scheduler printed a job id.
   *
   * @param jobId the array's job id
   * @param cluster the cluster's name; empty if sbatch did not print it
   */
  record Submitted(long jobId, String cluster) implements SubmitAnswer {}

  /** The scheduler certainly made no job. The message says why. */
  record Refused(String message) implements SubmitAnswer {
    /** Slurm's reasons for a limit on jobs that are submitted (acct_policy.c, 22.05). */
    private static final Pattern FOR_NOW =
        Pattern.compile("(Assoc|QOS)(Max|Grp)SubmitJobs?(Per[A-Za-z]+)?Limit");

    /** Returns whether the job may be accepted later, when other jobs have ended. */
    public boolean forNow() {
      return FOR_NOW.matcher(message).find();
    }
  }

  /** A job may or may not exist, for example after a timeout, a kill, or an unreadable answer. */
  record Unknown(String message) implements SubmitAnswer {}
}
