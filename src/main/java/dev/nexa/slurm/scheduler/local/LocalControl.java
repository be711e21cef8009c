package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import java.time.Duration;
import java.util.OptionalInt;

/** What scancel and {@code scontrol requeue} check, and the request that follows. */
final class LocalControl {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final long PAUSE_MILLIS = 10;

  private final StateDirectory state;
  private final Supervisors supervisors;

  LocalControl(StateDirectory state, Supervisors supervisors) {
    this.state = state;
    this.supervisors = supervisors;
  }

  void cancel(String key, long jobId, OptionalInt task) {
    if (!state.has(jobId)) {
      return;
    }
    JobDirectory directory = state.job(jobId);
    Job job = directory.job();
    if (job.name().equals(key) && directory.history(job).open()) {
      ask(directory, Request.Kind.CANCEL, task);
    }
  }

  void requeue(long jobId, int task) {
    if (!state.has(jobId)) {
      throw refused("Invalid job id specified for job " + jobId);
    }
    JobDirectory directory = state.job(jobId);
    Job job = directory.job();
    History history = directory.history(job);
    if (!history.has(task)) {
      throw refused(jobId + "_" + task + ": Invalid job id specified");
    }
    if (!job.requeue()) {
      throw refused("Requested operation is presently disabled for job " + job.taskId(task));
    }
    if (history.last(task).pending()) {
      throw refused("Job is pending execution for job " + job.taskId(task));
    }
    ask(directory, Request.Kind.REQUEUE, OptionalInt.of(task));
  }

  private static SchedulerUnavailable refused(String why) {
    return new SchedulerUnavailable("requeue failed: " + why);
  }

  /** Leaves a request and waits until it is done, or it seems to take longer. */
  private void ask(JobDirectory directory, Request.Kind kind, OptionalInt task) {
    Request request = Request.leave(directory, kind, task);
    state.markOpen(directory);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!request.isDone() && System.nanoTime() - deadline < 0) {
      // Each time anew: one that lived a moment ago may have been about to end.
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
