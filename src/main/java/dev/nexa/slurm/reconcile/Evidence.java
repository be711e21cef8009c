package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.AccountingQuery;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.RememberedJob;
import dev.nexa.slurm.scheduler.Scheduler;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one scheduler says of some runs: the queue first, then accounting, so that a task missing
 * from the queue has had its chance to be in the rows.
 */
public final class Evidence {
  private final QueueSnapshot snapshot;
  private final Map<String, List<AccountingRecord>> rows = new HashMap<>();
  private final Map<String, List<RememberedJob>> remembered = new HashMap<>();
  private final Set<AccountingRecord> told = new HashSet<>();
  private int rowsRead;

  private Evidence(QueueSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  /**
   * Asks the scheduler, once for all runs; for many of them see {@link Inquiry}.
   *
   * @throws dev.nexa.slurm.scheduler.SchedulerUnavailable if it can't be asked: then nothing is
   *     known
   */
  public static Evidence gather(Scheduler scheduler, Collection<RunState> runs) {
    Jobs jobs = Jobs.of(runs);
    return gather(
        scheduler, jobs.none() ? QueueSnapshot.notAsked() : QueueSnapshot.of(scheduler), jobs);
  }

  /** Asks accounting, where any is kept, for what has been seen in the queue or is gone from it. */
  static Evidence gather(Scheduler scheduler, QueueSnapshot queue, Collection<RunState> runs) {
    return gather(scheduler, queue, Jobs.of(runs));
  }

  private static Evidence gather(Scheduler scheduler, QueueSnapshot queue, Jobs jobs) {
    Evidence evidence = new Evidence(queue);
    if (queue.accountingKept() && !jobs.ids().isEmpty()) {
      scheduler.accounting(AccountingQuery.byIds(jobs.ids(), jobs.since()), evidence::add);
    }
    if (queue.accountingKept() && !jobs.names().isEmpty()) {
      scheduler.accounting(AccountingQuery.byNames(jobs.names(), jobs.since()), evidence::add);
    }
    if (!queue.accountingKept()) {
      for (long id : queue.ended(jobs.ids())) {
        for (RememberedJob job : scheduler.remembered(id)) {
          evidence.remembered.computeIfAbsent(job.row().name(), key -> new ArrayList<>()).add(job);
        }
      }
    }
    return evidence;
  }

  /**
   * The jobs of some runs.
   *
   * @param ids array job ids
   * @param names keys of submissions whose job is not known
   * @param since none was submitted before
   */
  private record Jobs(List<Long> ids, List<String> names, Instant since) {
    static Jobs of(Collection<RunState> runs) {
      Set<Long> ids = new LinkedHashSet<>();
      List<String> names = new ArrayList<>();
      Instant since = Instant.now();
      for (RunState run : runs) {
        for (Submission submission : run.submissions()) {
          submission.jobId().ifPresent(ids::add);
          ids.addAll(submission.duplicates());
          if (submission.unresolved()) {
            names.add(submission.key());
          }
          since = submission.intended().isBefore(since) ? submission.intended() : since;
        }
      }
      return new Jobs(List.copyOf(ids), names, since);
    }

    boolean none() {
      return ids.isEmpty() && names.isEmpty();
    }
  }

  private void add(AccountingRecord row) {
    rowsRead++;
    // Our jobs are arrays; before its tasks have rows, an array was seen as one without an index.
    // A row that is told twice is one allocation, which costs once.
    boolean tells = !row.tasks().indices().isEmpty() || row.endedAsOne();
    if (tells && told.add(row)) {
      rows.computeIfAbsent(row.name(), key -> new ArrayList<>()).add(row);
    }
  }

  /** When the first question went out: nothing here is older. */
  public Instant asked() {
    return snapshot.asked();
  }

  public boolean accountingKept() {
    return snapshot.accountingKept();
  }

  public int rowsRead() {
    return rowsRead;
  }

  /** The queue's entries of one submission, under the run's own numbers of its tasks. */
  public List<QueueEntry> queue(Submission submission) {
    List<QueueEntry> entries = snapshot.entries(submission.key());
    return submission.offset() == 0
        ? entries
        : entries.stream().map(entry -> entry.plus(submission.offset())).toList();
  }

  /** The queue's entries of all of a run's submissions. */
  public List<QueueEntry> queue(RunState state) {
    List<QueueEntry> entries = new ArrayList<>();
    for (Submission submission : state.submissions()) {
      entries.addAll(queue(submission));
    }
    return entries;
  }

  /**
   * The rows of one submission, under the run's own numbers of its tasks: accounting's, or what its
   * jobs left, and the controller remembers, where none is kept.
   *
   * @param problems told of results that can't be read
   */
  public List<AccountingRecord> rows(
      RunFolder run, RunFacts facts, Submission submission, List<String> problems) {
    if (!accountingKept()) {
      List<RememberedJob> known = remembered.getOrDefault(submission.key(), List.of());
      return new JobResults(run, facts, submission, queue(submission), known, problems)
          .rows(asked());
    }
    List<AccountingRecord> kept = rows.getOrDefault(submission.key(), List.of());
    return submission.offset() == 0
        ? kept
        : kept.stream().map(row -> row.plus(submission.offset())).toList();
  }

  /** What the run came to. */
  public RunOutcome outcome(RunFolder run, RunFacts facts, RunState state, List<String> problems) {
    List<AccountingRecord> all = new ArrayList<>();
    Map<Integer, Long> holders = new HashMap<>();
    for (Submission submission : state.submissions()) {
      all.addAll(rows(run, facts, submission, problems));
      if (!submission.duplicates().isEmpty()) {
        run.claims(submission.key()).forEach(claim -> holders.put(claim.task(), claim.jobId()));
      }
    }
    return RunOutcome.of(facts, state, all, queue(state), holders, Instant.now());
  }
}
