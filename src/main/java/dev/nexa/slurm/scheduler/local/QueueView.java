package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A job's tasks as squeue shows them, one by one. Pure. */
final class QueueView {
  private QueueView() {}

  /** The tasks that are pending, running, or on their way out. */
  static List<QueueEntry> entries(Job job, History history) {
    boolean busy = !history.last(attempt -> attempt.running() || attempt.ending()).isEmpty();
    String limited = job.throttle().isPresent() ? "JobArrayTaskLimit" : "Resources";
    String reason = busy ? limited : "None";
    List<QueueEntry> entries = new ArrayList<>();
    for (Attempt attempt : history.last(attempt -> !attempt.over())) {
      entries.add(
          new QueueEntry(
              attempt.raw(),
              job.id(),
              attempt.task(),
              state(attempt),
              attempt.pending() ? reason : "None",
              start(attempt),
              Optional.empty(),
              job.name()));
    }
    return entries;
  }

  private static JobState state(Attempt attempt) {
    if (attempt.pending()) {
      return JobState.PENDING;
    }
    return attempt.running() ? JobState.RUNNING : JobState.COMPLETING;
  }

  private static Optional<Instant> start(Attempt attempt) {
    return attempt.start() == 0
        ? Optional.empty()
        : Optional.of(Instant.ofEpochSecond(attempt.start()));
  }
}
