package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One scheduler's data on some runs. The queue is read before accounting, so that a task that has
 * just left the queue can appear in accounting.
 */
public final class TaskEvidence {
  private static final int MOST_FAULTS = 20;

  private final QueueSnapshot snapshot;
  private final Map<String, List<AccountingRecord>> rows = new HashMap<>();
  private final Map<String, List<ControllerJob>> remembered = new HashMap<>();
  private final Map<String, List<FaultyRow>> faulty = new HashMap<>();
  private final Set<AccountingRecord> told = new HashSet<>();
  private final Map<String, Submission> submitted = new HashMap<>();
  private final Map<AccountingRecord, FaultyRow> early = new LinkedHashMap<>();
  private int rowsRead;

  private TaskEvidence(QueueSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  /** Returns evidence of runs that were submitted a moment ago: no task of theirs has ended. */
  public static TaskEvidence notAsked() {
    return new TaskEvidence(QueueSnapshot.notAsked());
  }

  /**
   * Asks the scheduler once for all runs. For many runs use {@link SchedulerPoll}.
   *
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the scheduler cannot be asked
   */
  public static TaskEvidence gather(Scheduler scheduler, Collection<RunState> runs) {
    boolean some = runs.stream().anyMatch(run -> !run.submissions().isEmpty());
    return gather(scheduler, some ? QueueSnapshot.of(scheduler) : QueueSnapshot.notAsked(), runs);
  }

  /**
   * Asks accounting, if the cluster keeps it, for the jobs of the runs; else asks slurmctld for
   * ended jobs.
   */
  public static TaskEvidence gather(
      Scheduler scheduler, QueueSnapshot queue, Collection<RunState> runs) {
    Jobs jobs = Jobs.of(runs);
    TaskEvidence evidence = new TaskEvidence(queue);
    evidence.submitted.putAll(jobs.submitted());
    if (queue.accountingKept() && !jobs.ids().isEmpty()) {
      scheduler.accounting(AccountingQuery.byIds(jobs.ids(), jobs.since()), evidence::add);
    }
    Set<String> names = evidence.unseen(runs);
    if (queue.accountingKept() && !names.isEmpty()) {
      List<String> all = List.copyOf(names);
      scheduler.accounting(AccountingQuery.byNames(all, jobs.since()), evidence::add);
    }
    evidence.addEarly();
    if (!queue.accountingKept()) {
      for (long id : queue.ended(jobs.ids())) {
        for (ControllerJob job : scheduler.remembered(id)) {
          evidence.remembered.computeIfAbsent(job.row().name(), key -> new ArrayList<>()).add(job);
        }
      }
    }
    return evidence;
  }

  /**
   * The jobs of some runs.
   *
   * @param ids the array job ids
   * @param submitted each submission by its key
   * @param since the earliest time of a submission
   */
  private record Jobs(List<Long> ids, Map<String, Submission> submitted, Instant since) {
    static Jobs of(Collection<RunState> runs) {
      Set<Long> ids = new LinkedHashSet<>();
      Map<String, Submission> submitted = new HashMap<>();
      Instant since = Instant.now();
      for (RunState run : runs) {
        for (Submission submission : run.submissions()) {
          submission.jobId().ifPresent(ids::add);
          ids.addAll(submission.duplicates());
          submitted.put(submission.key(), submission);
          since = submission.intended().isBefore(since) ? submission.intended() : since;
        }
      }
      return new Jobs(List.copyOf(ids), submitted, since);
    }
  }

  /**
   * Returns the keys of submissions whose job is unknown or was seen nowhere under its name: sbatch
   * may have printed a wrong id, or refused after it made a job.
   */
  private Set<String> unseen(Collection<RunState> runs) {
    Set<String> names = new LinkedHashSet<>();
    for (RunState run : runs) {
      for (Submission submission : run.submissions()) {
        boolean doubtful = submission.doubted() || submission.unresolved();
        boolean seen =
            submission.phase() == Submission.Phase.CONFIRMED
                || snapshot.shows(submission)
                || hasRow(submission);
        if (doubtful || !seen) {
          names.add(submission.key());
        }
      }
    }
    return names;
  }

  private boolean hasRow(Submission submission) {
    List<AccountingRecord> all = new ArrayList<>(early.keySet());
    all.removeIf(row -> !row.name().equals(submission.key()));
    all.addAll(rows.getOrDefault(submission.key(), List.of()));
    return all.stream().anyMatch(row -> submission.jobId().equals(Optional.of(row.arrayJobId())));
  }

  private void add(AccountingRecord row) {
    rowsRead++;
    Submission submission = submitted.get(row.name());
    Instant sent = submission == null ? Instant.MIN : submission.intended();
    if (!row.ended() || !FaultyRow.isTooEarly(row.submit(), sent)) {
      addOwn(row);
      return;
    }
    List<String> faults = new ArrayList<>(row.more().faults());
    faults.add("Submit " + row.submit() + " is before the run's, " + sent);
    if (FaultyRow.isTooEarly(row.end().orElseThrow(), sent)) {
      early.put(row, new FaultyRow(row, faults.get(faults.size() - 1), false));
    } else {
      addOwn(row.faulty(faults));
    }
  }

  /**
   * Adds the rows that ended before the run was submitted. Where a task has another row, or the row
   * contradicts itself, it is not the run's. Any other row has a wrong day, and a time that counts.
   */
  private void addEarly() {
    List<AccountingRecord> ours = new ArrayList<>(early.keySet());
    ours.removeIf(row -> !isOnly(row) || !row.more().faults().isEmpty());
    ours.forEach(early::remove);
    ours.forEach(this::addOwn);
    for (FaultyRow row : early.values()) {
      faulty.computeIfAbsent(row.row().name(), key -> new ArrayList<>()).add(row);
    }
  }

  private void addOwn(AccountingRecord row) {
    // Until its tasks have rows, an array can have one without an index. A row that sacct prints
    // twice is one allocation.
    Submission sent = submitted.get(row.name());
    boolean tells =
        !row.tasks().indices().isEmpty()
            || row.endedAsOne()
            || (sent != null && sent.tasks().indices().size() == 1);
    if (!told.add(row)) {
      return;
    }
    if (tells && !row.completedUnbegun()) {
      rows.computeIfAbsent(row.name(), key -> new ArrayList<>()).add(row);
    }
    List<FaultyRow> faults = new ArrayList<>(0);
    for (String fault : row.more().faults()) {
      faults.add(new FaultyRow(row, fault, true));
    }
    if (!tells && row.ended() && row.ran()) {
      faults.add(new FaultyRow(row, "JobID names no task, but it held " + row.allocTres(), true));
    }
    if (!faults.isEmpty()) {
      faulty.computeIfAbsent(row.name(), key -> new ArrayList<>()).addAll(faults);
    }
  }

  /** Returns the run's rows that contradict themselves. */
  public List<FaultyRow> faulty(RunState state) {
    List<FaultyRow> all = new ArrayList<>(0);
    for (Submission submission : faulty.isEmpty() ? List.<Submission>of() : state.submissions()) {
      all.addAll(faulty.getOrDefault(submission.key(), List.of()));
    }
    return all;
  }

  /** Returns the lines for the run's records: missing rows and contradictory rows. */
  public List<String> disagreements(RunState state, List<String> missing) {
    List<String> all = new ArrayList<>(missing);
    faulty(state).stream().limit(MOST_FAULTS).forEach(row -> all.add(row.told(asked())));
    return all;
  }

  /** Returns whether the run must wait until a contradictory row is corrected. */
  public boolean isInDoubt(RunState state) {
    return faulty(state).stream()
        .anyMatch(row -> row.waits(asked()) || (!row.counts() && isOnly(row.row())));
  }

  /** Returns whether a row that is not the run's is the only row about its task. */
  private boolean isOnly(AccountingRecord row) {
    return rows.getOrDefault(row.name(), List.of()).stream()
        .noneMatch(other -> other.tasks().equals(row.tasks()));
  }

  /** Returns when the first query was sent. All data is at least this new. */
  public Instant asked() {
    return snapshot.asked();
  }

  /**
   * Returns whether another job may wait for the submission's job: the queue lists the job, or the
   * submission is so new that squeue was not asked. A row of accounting is not enough: the row of a
   * lost job says RUNNING for ever.
   */
  boolean mayHold(Submission submission) {
    return !snapshot.wasAsked() || snapshot.shows(submission);
  }

  /** Returns whether squeue was asked, and lists no job of the submission's name. */
  boolean isGone(Submission submission) {
    return snapshot.wasAsked() && snapshot.entries(submission.key()).isEmpty();
  }

  /** Returns whether the cluster keeps accounting. */
  public boolean accountingKept() {
    return snapshot.accountingKept();
  }

  /** Returns how many rows accounting returned, repeated rows included. */
  public int rowsRead() {
    return rowsRead;
  }

  /** Returns the queue entries of one submission, with the run's task numbers. */
  public List<QueueEntry> queue(Submission submission) {
    List<QueueEntry> entries = snapshot.entries(submission.key());
    return submission.offset() == 0
        ? entries
        : entries.stream().map(entry -> entry.plus(submission.offset())).toList();
  }

  /** Returns the queue entries of all submissions of a run, with the run's task numbers. */
  public List<QueueEntry> queue(RunState state) {
    return state.submissions().stream().flatMap(sent -> queue(sent).stream()).toList();
  }

  /**
   * Returns the rows of one submission, with the run's task numbers.
   *
   * <p>The rows are accounting's. On a cluster without accounting, they are built from the jobs'
   * results and slurmctld's memory.
   *
   * @param problems receives a line for each result that cannot be read
   */
  public List<AccountingRecord> rows(
      RunFolder run, RunFacts facts, Submission submission, List<String> problems) {
    if (!accountingKept()) {
      List<ControllerJob> known = remembered.getOrDefault(submission.key(), List.of());
      return new ResultsAsAccounting(run, facts, submission, queue(submission), known, problems)
          .rows(asked());
    }
    return accountingRows(submission);
  }

  /**
   * Returns a row of one submission with the run's task numbers. A job that is no array has a row
   * without an index.
   */
  static AccountingRecord numbered(AccountingRecord row, Submission submission) {
    boolean single = row.tasks().indices().isEmpty() && submission.tasks().indices().size() == 1;
    return single ? row.of(submission.tasks(), row.name()) : row.plus(submission.offset());
  }

  /** Returns accounting's rows of one submission, with the run's task numbers. */
  List<AccountingRecord> accountingRows(Submission submission) {
    List<AccountingRecord> kept = rows.getOrDefault(submission.key(), List.of());
    return kept.stream().map(row -> numbered(row, submission)).toList();
  }

  /**
   * Derives the run's state.
   *
   * @param problems receives a line for each result that cannot be read
   */
  public RunOutcome outcome(RunFolder run, RunFacts facts, RunState state, List<String> problems) {
    List<AccountingRecord> all = new ArrayList<>();
    Map<Integer, Long> holders = new HashMap<>();
    for (Submission submission : state.submissions()) {
      for (AccountingRecord row : rows(run, facts, submission, problems)) {
        all.add(facts.planned().typed(FaultyRow.priced(row, facts, asked())));
      }
      if (!submission.duplicates().isEmpty()) {
        run.claims(submission.key()).forEach(claim -> holders.put(claim.task(), claim.jobId()));
      }
    }
    RunOutcome outcome = RunOutcome.of(facts, state, all, queue(state), holders, Instant.now());
    return accountingKept() && !state.finished()
        ? outcome.without(UnprovenEnds.of(run, state, outcome, asked()), state)
        : outcome;
  }
}
