package dev.nexa.slurm.scheduler.local;

import java.time.Duration;
import java.util.List;

/** A job and what happened to it, written down as it happens. Only for the holder of the lock. */
final class JobLog {
  private final JobDirectory directory;
  private final Job job;
  private final History history;
  private long lastChange = System.nanoTime();

  JobLog(JobDirectory directory) {
    this.directory = directory;
    this.job = directory.job();
    this.history = directory.history(job);
  }

  Job job() {
    return job;
  }

  History history() {
    return history;
  }

  /** Writes the events down, durably and at once, before anybody sees what follows from them. */
  void record(List<Event> events) {
    if (!events.isEmpty()) {
      directory.append(events);
      events.forEach(history::apply);
      lastChange = System.nanoTime();
    }
  }

  /** Whether nothing happened for so long. */
  boolean quietFor(Duration time) {
    return System.nanoTime() - lastChange > time.toNanos();
  }
}
