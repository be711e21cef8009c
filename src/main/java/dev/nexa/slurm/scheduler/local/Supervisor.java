package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.files.FileLock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The process that runs one job, detached from whoever submitted it: one thread that looks around
 * forty times a second. All it knows is in the job's folder, so that another can take over.
 */
public final class Supervisor {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long PAUSE_MILLIS = 25;

  private final StateDirectory state;
  private final JobDirectory directory;
  private final Job job;
  private final History history;
  private final TaskStarter starter;
  private final Liveness liveness;
  private final List<RunningTask> running = new ArrayList<>();
  private long lastHeartbeat;

  private Supervisor(JobDirectory directory) {
    this.state = StateDirectory.of(directory);
    this.directory = directory;
    this.job = directory.job();
    this.history = directory.history(job);
    this.starter = new TaskStarter(directory, job);
    this.liveness = new Liveness(directory);
  }

  /** Runs the job in the folder that is named. One that has a supervisor is left to it. */
  public static void main(String[] args) throws InterruptedException {
    JobDirectory directory = JobDirectory.at(Path.of(args[0]));
    String us = Owner.ofThisProcess().line();
    FileLock lock;
    try {
      lock = FileLock.acquire(directory.lock(), us, new Liveness(directory)::dead, PATIENCE);
    } catch (FileLock.LockedException taken) {
      System.err.println(taken.getMessage());
      return;
    }
    try {
      Recovery.recover(directory);
      new Supervisor(directory).runOrAbandon();
    } finally {
      lock.close();
    }
  }

  /** Without a supervisor that writes down what becomes of them, tasks must not go on. */
  private void runOrAbandon() throws InterruptedException {
    try {
      run();
    } finally {
      running.forEach(RunningTask::abandon);
    }
  }

  private void run() throws InterruptedException {
    while (true) {
      step();
      if (history.open()) {
        Thread.sleep(PAUSE_MILLIS);
        continue;
      }
      state.markOver(directory);
      if (Request.of(directory).isEmpty()) {
        return;
      }
      // It came while we were closing.
      state.markOpen(directory);
    }
  }

  private void step() {
    for (Request request : Request.of(directory)) {
      if (handle(request)) {
        request.done();
      }
    }
    for (RunningTask task : List.copyOf(running)) {
      record(task.look(now()));
      if (history.last(task.task()).over() || history.last(task.task()).pending()) {
        running.remove(task);
      }
    }
    startMore();
    heartbeat();
  }

  /** True if nothing is left of it to do. */
  private boolean handle(Request request) {
    boolean done = true;
    for (Attempt attempt :
        history.last(a -> request.task().stream().allMatch(t -> t == a.task()))) {
      boolean later =
          attempt.ending() && (attempt.again() || request.kind() == Request.Kind.REQUEUE);
      if (later) {
        // A next attempt is due, or wanted, once this one is gone.
        done = false;
      } else if (request.kind() == Request.Kind.CANCEL) {
        cancel(attempt, request.uid());
      } else {
        requeue(attempt);
      }
    }
    return done;
  }

  private void cancel(Attempt attempt, long uid) {
    if (attempt.pending()) {
      record(List.of(Event.end(now(), attempt.task(), "CANCELLED by " + uid, "0:0")));
    } else if (attempt.running()) {
      record(running(attempt).cancel(now(), uid));
    }
  }

  private void requeue(Attempt attempt) {
    if (attempt.running()) {
      record(running(attempt).requeue(now()));
    } else if (attempt.over()) {
      record(List.of(Event.requeue(now(), attempt.task(), "REQUEUED")));
    }
  }

  private RunningTask running(Attempt attempt) {
    for (RunningTask task : running) {
      if (task.task() == attempt.task()) {
        return task;
      }
    }
    throw new IllegalStateException(job.taskId(attempt.task()) + " is running, but not here");
  }

  private void startMore() {
    if (running.size() >= job.atOnce()) {
      return;
    }
    for (Attempt pending : history.last(Attempt::pending)) {
      if (running.size() >= job.atOnce()) {
        return;
      }
      start(pending);
    }
  }

  /** Writes it down before it is done: a successor must know what may be running. */
  private void start(Attempt pending) {
    record(List.of(Event.start(now(), pending.task(), rawId(pending))));
    TaskStarter.Outcome outcome = starter.start(history.last(pending.task()), freeSlot());
    outcome.task().ifPresent(running::add);
    if (outcome.task().isEmpty()) {
      record(
          List.of(
              Event.end(now(), pending.task(), "FAILED", outcome.exitCode()),
              Event.gone(now(), pending.task())));
    }
  }

  /** As in Slurm: the last task of an array to start has the array's id for its own. */
  private long rawId(Attempt pending) {
    boolean keeps = pending.restart() > 0 || !job.isArray() || history.unnumbered() == 1;
    return keeps ? pending.raw() : state.claimTask(job.id());
  }

  private int freeSlot() {
    BitSet taken = new BitSet();
    running.forEach(task -> taken.set(task.slot()));
    return taken.nextClearBit(0);
  }

  private void record(List<Event> events) {
    if (!events.isEmpty()) {
      directory.append(events);
      events.forEach(history::apply);
    }
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
