package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The queue at one moment, by job name.
 *
 * @param accountingKept whether the cluster keeps accounting, so that absent jobs can be looked up
 * @param asked when squeue was called; all entries are at least this new
 * @param wasAsked whether squeue was called
 */
public record QueueSnapshot(
    Map<String, List<QueueEntry>> queue, boolean accountingKept, Instant asked, boolean wasAsked) {
  /** Returns an empty snapshot, for runs without jobs. */
  public static QueueSnapshot notAsked() {
    return new QueueSnapshot(Map.of(), true, Instant.now(), false);
  }

  static QueueSnapshot of(Scheduler scheduler) {
    Instant asked = Instant.now();
    return of(scheduler.queue(), scheduler.keepsAccounting(), asked);
  }

  private static QueueSnapshot of(List<QueueEntry> entries, boolean accountingKept, Instant asked) {
    Map<String, List<QueueEntry>> queue = new HashMap<>();
    for (QueueEntry entry : entries) {
      queue.computeIfAbsent(entry.name(), key -> new ArrayList<>()).add(entry);
    }
    return new QueueSnapshot(queue, accountingKept, asked, true);
  }

  /**
   * Begins to ask the scheduler in two threads, because each question starts a process. Returns a
   * supplier that waits for both answers and throws what the scheduler throws.
   *
   * @param known whether the cluster keeps accounting; empty to ask for that too
   */
  public static Supplier<QueueSnapshot> inBackground(Scheduler scheduler, Optional<Boolean> known) {
    Instant asked = Instant.now();
    Supplier<List<QueueEntry>> queue = SchedulerPoll.Question.ask("queue", scheduler::queue);
    Supplier<Boolean> accountingKept =
        known.isPresent()
            ? known::get
            : SchedulerPoll.Question.ask("accounting", scheduler::keepsAccounting);
    return () -> of(queue.get(), accountingKept.get(), asked);
  }

  /** Returns the arrays with tasks that have ended but are still listed. */
  Set<Long> ended(Collection<Long> arrays) {
    return queue.values().stream()
        .flatMap(List::stream)
        .filter(entry -> !entry.active() && arrays.contains(entry.arrayJobId()))
        .map(QueueEntry::arrayJobId)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns whether the queue lists the submission's job under the submission's key. */
  boolean shows(Submission submission) {
    return entries(submission.key()).stream()
        .anyMatch(entry -> submission.jobId().equals(Optional.of(entry.arrayJobId())));
  }

  /**
   * Returns whether the queue lists all tasks of all submissions of a run as active, each under the
   * job id that sbatch printed. Then no task of the run has ended.
   */
  public boolean showsAll(RunState run) {
    for (Submission submission : run.submissions()) {
      Set<Integer> shown = new TreeSet<>();
      for (QueueEntry entry : entries(submission.key())) {
        if (entry.active() && submission.jobId().equals(Optional.of(entry.arrayJobId()))) {
          shown.add(entry.task());
        }
      }
      if (shown.size() < submission.tasks().indices().size()) {
        return false;
      }
    }
    return true;
  }

  /** Returns the entries of one submission. */
  List<QueueEntry> entries(String key) {
    return queue.getOrDefault(key, List.of());
  }
}
