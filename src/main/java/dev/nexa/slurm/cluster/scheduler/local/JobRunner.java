package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.FileLock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;

/**
 * The process that runs one job, detached from the submitter's. A single thread checks the tasks
 * many times a second. All state is in the job's folder, so that another runner can take over.
 */
public final class JobRunner {
  /** The process that started this runner may still hold the lock for a moment. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** How often a task is requeued after a node failure (MAX_BATCH_REQUEUE in slurmctld.h). */
  private static final int MAX_REQUEUES = 5;

  private static final long PAUSE_MILLIS = 50;

  /** The interval between two readings of the jobs that this job waits for. */
  private static final Duration LOOK = Duration.ofMillis(250);

  private final StateDirectory state;
  private final JobDirectory directory;
  private final FileLock lock;
  private final JobHistory history;
  private final Map<Integer, RunningTask> running = new TreeMap<>();
  private Dependency dependency;
  private LongFunction<JobHistory> others;
  private long looked = System.nanoTime();
  private long lastHeartbeat;

  private JobRunner(JobDirectory directory, FileLock lock) {
    this.state = new StateDirectory(directory.path().resolve("../..").normalize());
    this.directory = directory;
    this.lock = lock;
    this.history = directory.history();
    this.dependency = directory.dependency();
    this.others = state.histories();
  }

  /**
   * Runs a job to its end. Returns at once if the job already has a runner.
   *
   * @param args the job's folder
   */
  public static void main(String[] args) throws InterruptedException {
    JobDirectory directory = JobDirectory.at(Path.of(args[0]));
    Liveness liveness = new Liveness(directory);
    try (FileLock lock =
        FileLock.acquire(directory.lock(), Liveness.ourLine(), liveness::dead, PATIENCE)) {
      recover(directory);
      new JobRunner(directory, lock).run();
    } catch (FileLock.LockedException taken) {
      System.err.println(taken.getMessage());
    }
  }

  /**
   * Repairs a job whose runner died, as slurmctld treats a dead node: its running tasks end as
   * NODE_FAIL, are queued again if they may be requeued, and leave no process. The caller holds the
   * job's lock.
   */
  static void recover(JobDirectory directory) {
    directory.cutTornTail();
    JobHistory history = directory.history();
    for (Attempt left : history.last(attempt -> attempt.running() || attempt.ending())) {
      ProcessGroup processes = new ProcessGroup(directory.mark(left));
      boolean survivors = !processes.members().isEmpty();
      processes.destroy();
      JobEvent gone = JobEvent.gone(now(), left.task());
      if (left.running()) {
        // After a power cut on Friday, a task did not run until the next call on Monday.
        long last = survivors ? now() : new Liveness(directory).lastSign().getEpochSecond();
        boolean again = history.job().requeue() && left.restart() < MAX_REQUEUES;
        directory.record(
            history, JobEvent.end(Math.min(now(), last), left.task(), "NODE_FAIL", again), gone);
      } else {
        directory.record(history, gone);
      }
    }
  }

  private void run() throws InterruptedException {
    try {
      while (step()) {
        Thread.sleep(PAUSE_MILLIS);
      }
    } finally {
      // Kills the tasks if the loop fails, because no process would record how they end.
      running.values().forEach(RunningTask::abandon);
    }
  }

  /** Handles requests and tasks once; false if no task is left. */
  private boolean step() {
    JobRequest.of(directory).stream().filter(this::handle).forEach(JobRequest::done);
    running.values().removeIf(task -> !task.look(now()));
    int atOnce = history.job().atOnce();
    for (Attempt pending : history.last(Attempt::pending)) {
      if (running.size() < atOnce && mayStart(pending)) {
        start(pending);
      }
    }
    heartbeat();
    return history.open() || !close();
  }

  /** Marks the job as over; false if a request came at the same time. */
  private boolean close() {
    state.markOver(directory);
    boolean over = JobRequest.of(directory).isEmpty();
    if (!over) {
      state.markOpen(directory);
    }
    return over;
  }

  /** Carries out a cancellation or a requeue; true if it is done. */
  private boolean handle(JobRequest request) {
    boolean done = true;
    boolean requeue = request.isRequeue();
    for (Attempt attempt : history.last(request::concerns)) {
      RunningTask task = running.get(attempt.task());
      String state = requeue ? "REQUEUED" : "CANCELLED by " + request.uid();
      JobEvent end = JobEvent.end(now(), attempt.task(), state, requeue);
      if (attempt.ending() && (attempt.again() || requeue)) {
        // When this attempt is over, another attempt follows or is requested.
        done = false;
      } else if (attempt.running() && task != null) {
        task.stop(end, requeue ? " DUE TO JOB REQUEUE" : "");
      } else if (requeue ? attempt.over() : attempt.pending()) {
        directory.record(history, end);
      }
    }
    return done;
  }

  private boolean mayStart(Attempt pending) {
    // Accounting has whole seconds, and two attempts of one second would be one row to its readers.
    // Slurm waits for two minutes.
    if (pending.restart() > 0 && now() <= pending.submit()) {
      return false;
    }
    if (System.nanoTime() - looked > LOOK.toNanos()) {
      dependency = directory.dependency();
      others = state.histories();
      looked = System.nanoTime();
    }
    return dependency.verdict(pending, others) == Dependency.Verdict.MET;
  }

  /** Records the start before the process starts, so that a successor knows what may be running. */
  private void start(Attempt pending) {
    int task = pending.task();
    directory.record(history, JobEvent.start(now(), task, rawId(pending)));
    Attempt started = history.last(attempt -> attempt.task() == task).get(0);
    try {
      running.put(task, new RunningTask(directory, history, started));
    } catch (IOException failed) {
      System.err.println(history.job().taskId(task) + ": " + failed);
      // Slurm 22.05 prints this exit code if the log could not be opened.
      JobEvent end = JobEvent.end(now(), task, "FAILED", "0:53");
      directory.record(history, end, JobEvent.gone(now(), task));
    }
  }

  /**
   * Returns the task's own job id. As in Slurm, the last task of an array to start gets the array's
   * id.
   */
  private long rawId(Attempt pending) {
    boolean keeps = pending.restart() > 0 || !history.job().isArray() || history.unnumbered() == 1;
    return keeps ? pending.raw() : state.claimTask(directory.id());
  }

  private void heartbeat() {
    if (now() >= lastHeartbeat + Liveness.HEARTBEAT.toSeconds()) {
      lastHeartbeat = now();
      if (!lock.holds()) {
        throw new IllegalStateException("somebody who took us for dead has this job now");
      }
      new Liveness(directory).giveSign();
    }
  }

  private static long now() {
    return Instant.now().getEpochSecond();
  }
}
