package dev.nexa.slurm.cluster.scheduler.local;

import java.time.Duration;
import java.util.List;

/** A job and its history, written to disk as it happens. The caller holds the job's lock. */
final class JobLog {
  private final JobDirectory directory;
  private final Job job;
  private final JobHistory history;
  private long lastChange = System.nanoTime();

  JobLog(JobDirectory directory) {
    this.directory = directory;
    this.job = directory.job();
    this.history = directory.history(job);
  }

  Job job() {
    return job;
  }

  JobHistory history() {
    return history;
  }

  /** Writes the events in one durable write, before any effect of them is visible. */
  void record(List<JobEvent> events) {
    if (!events.isEmpty()) {
      directory.append(events);
      events.forEach(history::apply);
      lastChange = System.nanoTime();
    }
  }

  /** Returns whether there was no event for this time. */
  boolean quietFor(Duration time) {
    return System.nanoTime() - lastChange > time.toNanos();
  }
}
