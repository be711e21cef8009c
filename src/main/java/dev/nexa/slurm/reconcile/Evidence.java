package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
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
  private final Map<RunId, List<QueueEntry>> queue = new HashMap<>();
  private final Map<RunId, List<AccountingRecord>> rows = new HashMap<>();
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
    RunId.ofKey(entry.name())
        .ifPresent(id -> queue.computeIfAbsent(id, run -> new ArrayList<>()).add(entry));
  }

  private void add(AccountingRecord row) {
    rowsRead++;
    if (row.tasks().indices().isEmpty()) {
      // Our jobs are arrays; before its tasks have rows, an array was seen as one row without an
      // index.
      return;
    }
    RunId.ofKey(row.name())
        .ifPresent(id -> rows.computeIfAbsent(id, run -> new ArrayList<>()).add(row));
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

  /** The queue's entries of the run's submissions. */
  public List<QueueEntry> queue(RunId run) {
    return queue.getOrDefault(run, List.of());
  }

  /** The rows of the run's submissions: accounting's, or what its jobs left where none is kept. */
  public List<AccountingRecord> rows(RunFolder run, RunFacts facts, RunState state) {
    return accountingKept
        ? rows.getOrDefault(run.id(), List.of())
        : new JobResults(run, facts, queue(run.id())).rows(state.submissions(), asked);
  }

  /** What the run came to. */
  public RunOutcome outcome(RunFolder run, RunFacts facts, RunState state) {
    return RunOutcome.of(
        facts, state, rows(run, facts, state), queue(run.id()), false, Instant.now());
  }
}
