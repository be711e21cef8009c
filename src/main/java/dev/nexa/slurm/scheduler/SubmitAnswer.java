package dev.nexa.slurm.scheduler;

/** What is known after asking for a job. An id is not yet a job: see the submit package. */
public sealed interface SubmitAnswer {

  /**
   * The scheduler named a job.
   *
   * @param jobId the array's job id
   * @param cluster the cluster's name; empty when sbatch did not say
   */
  record Submitted(long jobId, String cluster) implements SubmitAnswer {}

  /** The scheduler surely made no job, and why. */
  record Refused(String message) implements SubmitAnswer {}

  /** A job may or may not exist: a timeout, a kill, an answer nobody can read. */
  record Unknown(String message) implements SubmitAnswer {}
}
