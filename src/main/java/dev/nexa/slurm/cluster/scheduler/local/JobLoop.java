package dev.nexa.slurm.cluster.scheduler.local;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Runs one job in a single thread that checks its tasks many times a second. All state is in the
 * job's folder, so that another runner can take over.
 */
final class JobLoop {
  private static final long PAUSE_MILLIS = 25;

  /** Pause after a time without events. */
  private static final long LONG_PAUSE_MILLIS = 150;

  private static final Duration WHILE = Duration.ofSeconds(10);

  private final StateDirectory state;
  private final JobDirectory directory;
  private final Liveness liveness;
  private final JobLog log;
  private final TaskStarter starter;
  private final List<RunningTask> running = new ArrayList<>();
  private final RequestHandler requests;
  private final DependencyCheck dependency;
  private long lastHeartbeat;

  JobLoop(JobDirectory directory, Liveness liveness) {
    this.state = StateDirectory.of(directory);
    this.directory = directory;
    this.liveness = liveness;
    this.log = new JobLog(directory);
    this.starter = new TaskStarter(directory, log);
    this.requests = new RequestHandler(log, running);
    this.dependency = new DependencyCheck(state, directory);
  }

  /** Runs until no task is left. */
  void run() throws InterruptedException {
    try {
      while (step()) {
        Thread.sleep(log.quietFor(WHILE) ? LONG_PAUSE_MILLIS : PAUSE_MILLIS);
      }
    } finally {
      // Kills the tasks if the loop fails, because nobody would record how they end.
      running.forEach(RunningTask::abandon);
    }
  }

  /** Handles requests and tasks once; false if no task is left. */
  private boolean step() {
    for (JobRequest request : JobRequest.of(directory)) {
      if (requests.handle(request)) {
        request.done();
      }
    }
    running.removeIf(task -> !task.look(now()));
    startMore();
    heartbeat();
    return log.history().open() || !close();
  }

  /** Marks the job as over; false if a request came at the same time. */
  private boolean close() {
    state.markOver(directory);
    if (JobRequest.of(directory).isEmpty()) {
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
      if (isTooSoon(pending)) {
        continue;
      }
      switch (dependency.verdict(pending)) {
        case MET -> start(pending);
        case WAITS -> {}
        case NEVER -> cancelIfAsked(pending);
      }
    }
  }

  /**
   * Returns whether the attempt before this one ended in this second. Accounting has whole seconds,
   * and two attempts of one second would be one row to its readers. Slurm waits for two minutes.
   */
  private static boolean isTooSoon(Attempt pending) {
    return pending.restart() > 0 && now() <= pending.submit();
  }

  private void cancelIfAsked(Attempt pending) {
    if (log.job().killedOnInvalidDependency()) {
      log.record(List.of(JobEvent.end(now(), pending.task(), "CANCELLED", "0:0")));
    }
  }

  /** Records the start before the process starts, so that a successor knows what may be running. */
  private void start(Attempt pending) {
    int task = pending.task();
    log.record(List.of(JobEvent.start(now(), task, rawId(pending))));
    TaskStarter.Outcome outcome = starter.start(log.history().last(task), freeSlot());
    outcome.task().ifPresent(running::add);
    if (outcome.task().isEmpty()) {
      JobEvent failed = JobEvent.end(now(), task, "FAILED", outcome.exitCode());
      log.record(List.of(failed, JobEvent.gone(now(), task)));
    }
  }

  /**
   * Returns the task's own job id. As in Slurm, the last task of an array to start gets the array's
   * id.
   */
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
