package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.Scheduler;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The queue at one moment, by the jobs' names.
 *
 * @param accountingKept whether what is not in it can be looked up
 * @param asked when the question went out: nothing here is older
 */
record QueueSnapshot(Map<String, List<QueueEntry>> queue, boolean accountingKept, Instant asked) {
  /** For runs that have no job. */
  static QueueSnapshot notAsked() {
    return new QueueSnapshot(Map.of(), true, Instant.now());
  }

  static QueueSnapshot of(Scheduler scheduler) {
    Instant asked = Instant.now();
    Map<String, List<QueueEntry>> queue = new HashMap<>();
    for (QueueEntry entry : scheduler.queue()) {
      queue.computeIfAbsent(entry.name(), key -> new ArrayList<>()).add(entry);
    }
    return new QueueSnapshot(queue, scheduler.keepsAccounting(), asked);
  }

  /** Which of these arrays have tasks that ended, and that the queue has not forgotten yet. */
  Set<Long> ended(Collection<Long> arrays) {
    Set<Long> ended = new TreeSet<>();
    for (List<QueueEntry> entries : queue.values()) {
      for (QueueEntry entry : entries) {
        if (!entry.active() && arrays.contains(entry.arrayJobId())) {
          ended.add(entry.arrayJobId());
        }
      }
    }
    return ended;
  }

  /** The entries of one submission. */
  List<QueueEntry> entries(String key) {
    return queue.getOrDefault(key, List.of());
  }
}
