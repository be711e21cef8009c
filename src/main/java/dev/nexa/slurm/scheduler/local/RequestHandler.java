package dev.nexa.slurm.scheduler.local;

import java.time.Instant;
import java.util.List;

/** Does what scancel and {@code scontrol requeue} would, for one look around of a supervisor. */
final class RequestHandler {
  private final JobLog log;
  private final List<RunningTask> running;

  RequestHandler(JobLog log, List<RunningTask> running) {
    this.log = log;
    this.running = running;
  }

  /** True if nothing is left of the request to do. */
  boolean handle(Request request) {
    boolean done = true;
    for (Attempt attempt : log.history().last(request::concerns)) {
      boolean requeue = request.kind() == Request.Kind.REQUEUE;
      if (attempt.ending() && (attempt.again() || requeue)) {
        // A next attempt is due, or wanted, once this one is gone.
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
      log.record(List.of(Event.end(now(), attempt.task(), "CANCELLED by " + uid, "0:0")));
    } else if (attempt.running()) {
      running(attempt).cancel(now(), uid);
    }
  }

  private void requeue(Attempt attempt) {
    if (attempt.running()) {
      running(attempt).requeue(now());
    } else if (attempt.over()) {
      log.record(List.of(Event.requeue(now(), attempt.task(), "REQUEUED")));
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
