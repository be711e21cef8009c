package dev.nexa.slurm.scheduler.local;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Runs one job: one thread that looks around many times a second. All it knows is in the job's
 * folder, so that another can take over.
 */
final class Supervision {
  private static final long PAUSE_MILLIS = 25;

  /** Where nothing happened for a while, looking less often will do. */
  private static final long LONG_PAUSE_MILLIS = 150;

  private static final Duration WHILE = Duration.ofSeconds(10);

  private final StateDirectory state;
  private final JobDirectory directory;
  private final Liveness liveness;
  private final JobLog log;
  private final TaskStarter starter;
  private final List<RunningTask> running = new ArrayList<>();
  private final RequestHandler requests;
  private long lastHeartbeat;

  Supervision(JobDirectory directory, Liveness liveness) {
    this.state = StateDirectory.of(directory);
    this.directory = directory;
    this.liveness = liveness;
    this.log = new JobLog(directory);
    this.starter = new TaskStarter(directory, log);
    this.requests = new RequestHandler(log, running);
  }

  /** Returns once nothing is left to do. */
  void run() throws InterruptedException {
    try {
      while (step()) {
        Thread.sleep(log.quietFor(WHILE) ? LONG_PAUSE_MILLIS : PAUSE_MILLIS);
      }
    } finally {
      // Without anybody who writes down what becomes of them, tasks must not go on.
      running.forEach(RunningTask::abandon);
    }
  }

  /** Looks around once; false if nothing is left. */
  private boolean step() {
    for (Request request : Request.of(directory)) {
      if (requests.handle(request)) {
        request.done();
      }
    }
    running.removeIf(task -> !task.look(now()));
    startMore();
    heartbeat();
    return log.history().open() || !close();
  }

  /** True if the job is over; false if a request came while we were closing. */
  private boolean close() {
    state.markOver(directory);
    if (Request.of(directory).isEmpty()) {
      return true;
    }
    state.markOpen(directory);
    return false;
  }

  private void startMore() {
    int atOnce = log.job().atOnce();
    if (running.size() >= atOnce) {
      return;
    }
    for (Attempt pending : log.history().last(Attempt::pending)) {
      if (running.size() >= atOnce) {
        return;
      }
      start(pending);
    }
  }

  /** Writes it down before it is done: a successor must know what may be running. */
  private void start(Attempt pending) {
    int task = pending.task();
    log.record(List.of(Event.start(now(), task, rawId(pending))));
    TaskStarter.Outcome outcome = starter.start(log.history().last(task), freeSlot());
    outcome.task().ifPresent(running::add);
    if (outcome.task().isEmpty()) {
      Event failed = Event.end(now(), task, "FAILED", outcome.exitCode());
      log.record(List.of(failed, Event.gone(now(), task)));
    }
  }

  /** As in Slurm: the last task of an array to start has the array's id for its own. */
  private long rawId(Attempt pending) {
    Job job = log.job();
    boolean keeps = pending.restart() > 0 || !job.isArray() || log.history().unnumbered() == 1;
    return keeps ? pending.raw() : state.claimTask(job.id());
  }

  private int freeSlot() {
    BitSet taken = new BitSet();
    running.forEach(task -> taken.set(task.slot()));
    return taken.nextClearBit(0);
  }

  private void heartbeat() {
    if (now() < lastHeartbeat + Liveness.HEARTBEAT.toSeconds()) {
      return;
    }
    lastHeartbeat = now();
    if (!liveness.lockIsOurs()) {
      throw new IllegalStateException("somebody who took us for dead has this job now");
    }
    liveness.giveSign();
  }

  private static long now() {
    return Instant.now().getEpochSecond();
  }
}
