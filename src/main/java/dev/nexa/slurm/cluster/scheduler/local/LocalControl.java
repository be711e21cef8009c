package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import java.time.Duration;
import java.util.OptionalInt;

/**
 * Checks cancellations and requeues as scancel and {@code scontrol requeue} do, and passes them to
 * the job's runner.
 */
final class LocalControl {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final long PAUSE_MILLIS = 10;

  private final StateDirectory state;
  private final RunnerStarter supervisors;

  LocalControl(StateDirectory state, RunnerStarter supervisors) {
    this.state = state;
    this.supervisors = supervisors;
  }

  void cancel(String key, long jobId, OptionalInt task) {
    if (!state.has(jobId) || state.job(jobId).isOfAnotherUser()) {
      return;
    }
    JobDirectory directory = state.job(jobId);
    Job job = directory.job();
    if (job.name().equals(key) && directory.history(job).open()) {
      ask(directory, JobRequest.Kind.CANCEL, task);
    }
  }

  void requeue(long jobId, int task) {
    if (!state.has(jobId) || state.job(jobId).isOfAnotherUser()) {
      throw refused("Invalid job id specified for job " + jobId);
    }
    JobDirectory directory = state.job(jobId);
    Job job = directory.job();
    JobHistory history = directory.history(job);
    if (!history.has(task)) {
      throw refused(jobId + "_" + task + ": Invalid job id specified");
    }
    if (!job.requeue()) {
      throw refused("Requested operation is presently disabled for job " + job.taskId(task));
    }
    if (history.last(task).pending()) {
      throw refused("Job is pending execution for job " + job.taskId(task));
    }
    ask(directory, JobRequest.Kind.REQUEUE, OptionalInt.of(task));
  }

  /** Changes what a job's waiting tasks wait for. The job's runner reads it again. */
  void dependOn(long jobId, String dependency) {
    if (!state.has(jobId) || state.job(jobId).isOfAnotherUser()) {
      throw refused("Invalid job id specified for job " + jobId);
    }
    for (long id : Dependency.parse(dependency).jobs()) {
      if (!state.has(id)) {
        throw refused("Job dependency problem: there is no job " + id + " here");
      }
    }
    state.job(jobId).waitFor(dependency);
  }

  private static SchedulerUnavailable refused(String why) {
    return new SchedulerUnavailable(ErrorCode.LOCAL_SCHEDULER_FAILED, "requeue failed: " + why);
  }

  /** Writes a request and waits until it is done, at most 5 seconds. */
  private void ask(JobDirectory directory, JobRequest.Kind kind, OptionalInt task) {
    JobRequest request = JobRequest.leave(directory, kind, task);
    state.markOpen(directory);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!request.isDone() && System.nanoTime() - deadline < 0) {
      // Checked in each round, because a runner that lived a moment ago may have been about to end.
      supervisors.see(directory);
      try {
        Thread.sleep(PAUSE_MILLIS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
