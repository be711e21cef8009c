package dev.nexa.slurm.cluster.scheduler.local;

import java.time.Instant;
import java.util.List;

/** Carries out cancellations and requeues in the job's runner. */
final class RequestHandler {
  private final JobLog log;
  private final List<RunningTask> running;

  RequestHandler(JobLog log, List<RunningTask> running) {
    this.log = log;
    this.running = running;
  }

  /** Handles a request; true if it is done. */
  boolean handle(JobRequest request) {
    boolean done = true;
    for (Attempt attempt : log.history().last(request::concerns)) {
      boolean requeue = request.kind() == JobRequest.Kind.REQUEUE;
      if (attempt.ending() && (attempt.again() || requeue)) {
        // Another attempt follows, or is requested, once this one is over.
        done = false;
      } else if (requeue) {
        requeue(attempt);
      } else {
        cancel(attempt, request.uid());
      }
    }
    return done;
  }

  private void cancel(Attempt attempt, long uid) {
    if (attempt.pending()) {
      log.record(List.of(JobEvent.end(now(), attempt.task(), "CANCELLED by " + uid, "0:0")));
    } else if (attempt.running()) {
      running(attempt).cancel(now(), uid);
    }
  }

  private void requeue(Attempt attempt) {
    if (attempt.running()) {
      running(attempt).requeue(now());
    } else if (attempt.over()) {
      log.record(List.of(JobEvent.requeue(now(), attempt.task(), "REQUEUED")));
    }
  }

  private RunningTask running(Attempt attempt) {
    for (RunningTask task : running) {
      if (task.task() == attempt.task()) {
        return task;
      }
    }
    throw new IllegalStateException("task " + attempt.task() + " is running, but not here");
  }

  private static long now() {
    return Instant.now().getEpochSecond();
  }
}
