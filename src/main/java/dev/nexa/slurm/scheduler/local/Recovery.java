package dev.nexa.slurm.scheduler.local;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * What slurmctld does about a node that died: its tasks are NODE_FAIL and, where they may be,
 * queued again; nothing of theirs goes on running. Only for the holder of the job's lock.
 */
final class Recovery {
  /** So often a task is queued again for a node's sake (MAX_BATCH_REQUEUE in slurmctld.h). */
  private static final int MAX_REQUEUES = 5;

  private Recovery() {}

  /** Brings a job that no supervisor runs into a state that is true. */
  static void recover(JobDirectory directory) {
    directory.cutTornTail();
    Job job = directory.job();
    List<Event> events = new ArrayList<>();
    for (Attempt left : directory.history(job).last(a -> a.running() || a.ending())) {
      ProcessGroup processes = new ProcessGroup(directory.mark(left));
      boolean survivors = !processes.members().isEmpty();
      processes.destroy();
      long now = Instant.now().getEpochSecond();
      if (left.running()) {
        // After a power cut on Friday, it did not run until somebody looked on Monday.
        long last = survivors ? now : new Liveness(directory).lastSign().getEpochSecond();
        boolean again = job.requeue() && left.restart() < MAX_REQUEUES;
        long end = Math.max(left.start(), Math.min(now, last));
        events.add(new Event(end, left.task(), Event.Kind.END, 0, "NODE_FAIL", "0:0", again));
      }
      events.add(Event.gone(now, left.task()));
    }
    if (!events.isEmpty()) {
      directory.append(events);
    }
  }
}
