package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.AccountingQuery;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.Scheduler;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What one scheduler says of some runs: the queue first, then accounting, so that a task missing
 * from the queue has had its chance to be in the rows. Asked once for all runs.
 */
public final class Evidence {
  private final Map<String, List<QueueEntry>> queue = new HashMap<>();
  private final Map<String, List<AccountingRecord>> rows = new HashMap<>();
  private final boolean accountingKept;
  private final Instant asked;
  private int rowsRead;

  private Evidence(boolean accountingKept, Instant asked) {
    this.accountingKept = accountingKept;
    this.asked = asked;
  }

  /**
   * Asks the scheduler.
   *
   * @throws dev.nexa.slurm.scheduler.SchedulerUnavailable if it can't be asked: then nothing is
   *     known
   */
  public static Evidence gather(Scheduler scheduler, Collection<RunState> runs) {
    List<Long> ids = new ArrayList<>();
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
    if (ids.isEmpty() && names.isEmpty()) {
      return new Evidence(true, Instant.now());
    }
    Instant asked = Instant.now();
    List<QueueEntry> queued = scheduler.queue();
    Evidence evidence = new Evidence(scheduler.keepsAccounting(), asked);
    queued.forEach(evidence::add);
    if (evidence.accountingKept && !ids.isEmpty()) {
      scheduler.accounting(AccountingQuery.byIds(ids, since), evidence::add);
    }
    if (evidence.accountingKept && !names.isEmpty()) {
      scheduler.accounting(AccountingQuery.byNames(names, since), evidence::add);
    }
    return evidence;
  }

  private void add(QueueEntry entry) {
    queue.computeIfAbsent(entry.name(), key -> new ArrayList<>()).add(entry);
  }

  private void add(AccountingRecord row) {
    rowsRead++;
    // Our jobs are arrays; before its tasks have rows, an array was seen as one without an index.
    if (!row.tasks().indices().isEmpty()) {
      rows.computeIfAbsent(row.name(), key -> new ArrayList<>()).add(row);
    }
  }

  /** When the first question went out: nothing here is older. */
  public Instant asked() {
    return asked;
  }

  public boolean accountingKept() {
    return accountingKept;
  }

  public int rowsRead() {
    return rowsRead;
  }

  /** The queue's entries of one submission, under the run's own numbers of its tasks. */
  public List<QueueEntry> queue(Submission submission) {
    List<QueueEntry> entries = queue.getOrDefault(submission.key(), List.of());
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
   * jobs left where none is kept.
   *
   * @param problems told of results that can't be read
   */
  public List<AccountingRecord> rows(
      RunFolder run, RunFacts facts, Submission submission, List<String> problems) {
    if (!accountingKept) {
      return new JobResults(run, facts, submission, queue(submission), problems).rows(asked);
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
