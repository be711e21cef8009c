package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.FileLock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The main class of the process that runs one job. The process is detached from the submitter's.
 */
public final class JobRunner {
  /** The process that started this one may still hold the lock for a moment. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** How often a task is requeued after a node failure (MAX_BATCH_REQUEUE in slurmctld.h). */
  private static final int MAX_REQUEUES = 5;

  private JobRunner() {}

  /**
   * Runs a job to its end. Returns at once if the job already has a runner.
   *
   * @param args the job's folder
   */
  public static void main(String[] args) throws InterruptedException {
    JobDirectory directory = JobDirectory.at(Path.of(args[0]));
    Liveness liveness = new Liveness(directory);
    String us = ProcessOwner.ofThisProcess().line();
    FileLock lock;
    try {
      lock = FileLock.acquire(directory.lock(), us, liveness::dead, PATIENCE);
    } catch (FileLock.LockedException taken) {
      System.err.println(taken.getMessage());
      return;
    }
    try {
      recover(directory);
      new JobLoop(directory, liveness).run();
    } finally {
      lock.close();
    }
  }

  /**
   * Repairs a job whose runner died, as slurmctld treats a dead node: its running tasks end as
   * NODE_FAIL, are queued again if they may be requeued, and leave no process. The caller holds the
   * job's lock.
   */
  static void recover(JobDirectory directory) {
    directory.cutTornTail();
    Job job = directory.job();
    List<JobEvent> events = new ArrayList<>();
    for (Attempt left : directory.history(job).last(a -> a.running() || a.ending())) {
      ProcessGroup processes = new ProcessGroup(directory.mark(left));
      boolean survivors = !processes.members().isEmpty();
      processes.destroy();
      long now = Instant.now().getEpochSecond();
      if (left.running()) {
        // After a power cut on Friday, a task did not run until the next call on Monday.
        long last = survivors ? now : new Liveness(directory).lastSign().getEpochSecond();
        boolean again = job.requeue() && left.restart() < MAX_REQUEUES;
        long end = Math.max(left.start(), Math.min(now, last));
        events.add(new JobEvent(end, left.task(), JobEvent.Kind.END, 0, "NODE_FAIL", "0:0", again));
      }
      events.add(JobEvent.gone(now, left.task()));
    }
    if (!events.isEmpty()) {
      directory.append(events);
    }
  }
}
