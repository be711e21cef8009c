package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.cluster.sacct.DumpText;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import dev.nexa.slurm.cluster.sacct.JobUsages;
import dev.nexa.slurm.cluster.sacct.Problems;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.job.config.Signatures;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.LogFiles;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.reconcile.TaskOutcome;
import dev.nexa.slurm.run.reconcile.TaskResults;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Finds out why a run failed, or why it waits. Reads only. */
public final class ExplainRun {
  /** How many last lines to show if no cause is known. */
  private static final int LAST_LINES = 8;

  /** Of a task with more ranks, the logs of the first ones are read. */
  private static final int MOST_RANKS = 64;

  private final Context context;
  private final Signatures signatures;

  public ExplainRun(Context context) {
    this.context = context;
    this.signatures = context.configs().signatures();
  }

  /**
   * Explains a run.
   *
   * @param task the task to explain; empty for the task that failed first
   * @param problems receives a line for each file or program that could not be read or asked
   */
  public Explanation of(RunFolder run, OptionalInt task, List<String> problems) {
    RunFacts facts = RunFacts.shown(run);
    RunState journal = RunState.of(run.journal().read());
    TaskEvidence evidence = evidence(facts, journal, problems);
    RunOutcome outcome = evidence.outcome(run, facts, journal, problems);
    Optional<Failure> failure = failure(run, facts, journal, outcome, task, problems);
    Optional<Failure> measured = failure.map(one -> withMemory(one, run, problems));
    List<Explanation.Similar> similar =
        failure.isEmpty()
            ? List.of()
            : new SimilarRuns(context.workspace(), signatures).to(run.id(), failure.get());
    return new Explanation(
        run.id(),
        outcome.state(),
        measured,
        refusals(journal),
        waiting(run, evidence.queue(journal), problems),
        similar);
  }

  /**
   * Returns why a run failed, in one sentence; empty if no task has failed. Reads less than {@link
   * #of}. Never throws: it only adds to what another command prints.
   */
  public Optional<String> headline(RunFolder run) {
    List<String> unsaid = new ArrayList<>();
    try {
      RunFacts facts = RunFacts.shown(run);
      RunState journal = RunState.of(run.journal().read());
      RunOutcome outcome = evidence(facts, journal, unsaid).outcome(run, facts, journal, unsaid);
      return failure(run, facts, journal, outcome, OptionalInt.empty(), unsaid)
          .map(Failure::sentence);
    } catch (RuntimeException unreadable) {
      return Optional.empty();
    }
  }

  private static List<String> refusals(RunState journal) {
    List<String> refusals = new ArrayList<>();
    for (Submission submission : journal.current()) {
      if (!submission.message().isEmpty()) {
        refusals.add(submission.message());
      }
    }
    return refusals;
  }

  private TaskEvidence evidence(RunFacts facts, RunState journal, List<String> problems) {
    try {
      return TaskEvidence.gather(context.scheduler(facts.scheduler()), List.of(journal));
    } catch (SchedulerUnavailable outage) {
      problems.add("the scheduler cannot be asked, so this rests on the logs: " + outage.getMessage());
      return TaskEvidence.notAsked();
    }
  }

  /** Returns the named task, or the task that failed first; one that was cancelled comes last. */
  private static Optional<TaskOutcome> chosen(RunOutcome outcome, OptionalInt task) {
    List<TaskOutcome> failed = new ArrayList<>();
    for (TaskOutcome one : outcome.tasks()) {
      if (hasFailed(one) && (task.isEmpty() || task.getAsInt() == one.task())) {
        failed.add(one);
      }
    }
    return failed.stream()
        .min(
            Comparator.comparing((TaskOutcome one) -> one.state() == JobState.CANCELLED)
                .thenComparing(ExplainRun::end)
                .thenComparing(TaskOutcome::task));
  }

  private static boolean hasFailed(TaskOutcome task) {
    boolean good = task.state() == JobState.COMPLETED;
    return task.ended() ? !good : lastFailed(task).isPresent();
  }

  private static Instant end(TaskOutcome task) {
    return lastFailed(task).flatMap(AccountingRecord::end).orElse(Instant.MAX);
  }

  /** Returns the last attempt that ended without success. */
  private static Optional<AccountingRecord> lastFailed(TaskOutcome task) {
    Optional<AccountingRecord> last = Optional.empty();
    for (AccountingRecord row : task.attempts()) {
      if (row.ended() && row.state() != JobState.COMPLETED) {
        last = Optional.of(row);
      }
    }
    return last;
  }

  private Optional<Failure> failure(
      RunFolder run,
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      OptionalInt named,
      List<String> problems) {
    Optional<TaskOutcome> chosen = chosen(outcome, named);
    if (chosen.isEmpty()) {
      return Optional.empty();
    }
    TaskOutcome task = chosen.get();
    List<OwnRecord> records = new ArrayList<>();
    TaskResults.read(run, journal, !facts.points().isEmpty(), problems)
        .failures()
        .forEach(failure -> records.add(OwnRecord.of(failure)));
    Optional<OwnRecord> own = own(records, task.task());
    int restart = own.isPresent() ? own.get().restart() : restart(task);
    List<LogPart> parts = parts(run, task.task(), own, restart, problems);
    LogReading logs = LogReading.of(parts, signatures);
    if (logs.root().isEmpty() && own.isPresent() && own.get().rank().isPresent()) {
      logs = LogReading.of(withOtherRanks(parts, run, task.task(), restart, problems), signatures);
    }
    Optional<AccountingRecord> row = lastFailed(task);
    JobState state = row.isPresent() ? row.get().state() : task.state();
    Optional<Finding> stated =
        Stated.by(
            state,
            row.map(AccountingRecord::rawState).orElse(""),
            row.map(AccountingRecord::nodes).orElse(""),
            facts.timeLimit());
    Verdict verdict = Verdict.of(state, stated, own, logs);
    String failure = verdict.root().map(Finding::failure).orElse("");
    return Optional.of(
        new Failure(
            task.task(),
            (int) outcome.tasks().stream().filter(ExplainRun::hasFailed).count(),
            restart + 1,
            own.flatMap(OwnRecord::rank),
            own.flatMap(OwnRecord::node),
            row.map(attempt -> Failure.Accounted.of(attempt, facts.timeLimit())),
            verdict,
            logs.confirming(failure),
            logs.followed(),
            Remedy.of(failure, run.shownPlan().json(), Optional.empty()),
            parts.isEmpty() ? Optional.empty() : Optional.of(parts.get(0).file()),
            verdict.root().isPresent() || parts.isEmpty()
                ? List.of()
                : last(parts.get(0).lines())));
  }

  /** Returns the newest record of the task: those of later submissions come later. */
  private static Optional<OwnRecord> own(List<OwnRecord> records, int task) {
    Optional<OwnRecord> newest = Optional.empty();
    for (OwnRecord record : records) {
      newest = record.task() == task ? Optional.of(record) : newest;
    }
    return newest;
  }

  private static int restart(TaskOutcome task) {
    int attempts = 0;
    for (AccountingRecord row : task.attempts()) {
      attempts += row.ended() && row.ran() ? 1 : 0;
    }
    return Math.max(0, attempts - 1);
  }

  /** Returns the log of the rank that failed first, if it is known, and the task's log. */
  private static List<LogPart> parts(
      RunFolder run, int task, Optional<OwnRecord> own, int restart, List<String> problems) {
    LogFiles files = LogFiles.of(run);
    List<LogPart> parts = new ArrayList<>();
    Optional<Integer> rank = own.flatMap(OwnRecord::rank);
    if (rank.isPresent()) {
      files.ofRank(task, rank.get()).ifPresent(file -> read(file, restart, parts, problems));
    }
    files.newest(task).ifPresent(file -> read(file, restart, parts, problems));
    return parts;
  }

  /** Adds the logs of all ranks, because the first one to end may only have lost another one. */
  private static List<LogPart> withOtherRanks(
      List<LogPart> parts, RunFolder run, int task, int restart, List<String> problems) {
    List<LogPart> all = new ArrayList<>(parts);
    LogFiles files = LogFiles.of(run);
    for (int rank = 0; rank < MOST_RANKS; rank++) {
      Optional<Path> log = files.ofRank(task, rank);
      if (log.isEmpty()) {
        break;
      }
      read(log.get(), restart, all, problems);
    }
    return all;
  }

  private static void read(Path file, int restart, List<LogPart> parts, List<String> problems) {
    try {
      parts.add(LogPart.read(file, restart));
    } catch (UncheckedIOException unreadable) {
      problems.add(String.valueOf(unreadable.getMessage()));
    }
  }

  private static List<LogLine> last(List<LogLine> lines) {
    List<LogLine> said = new ArrayList<>();
    for (LogLine line : lines) {
      if (!line.text().isBlank()) {
        said.add(line);
      }
    }
    return List.copyOf(said.subList(Math.max(0, said.size() - LAST_LINES), said.size()));
  }

  /**
   * Adds the memory that the job used, and the value to try. Accounting measures it; the local
   * scheduler does not.
   */
  private Failure withMemory(Failure failure, RunFolder run, List<String> problems) {
    boolean measured = !run.shownPlan().isLocal() && context.slurm().isPresent();
    if (failure.slurm().isEmpty() || !measured) {
      return failure;
    }
    Problems doubts = new Problems();
    JobUsages usages = new JobUsages(doubts);
    List<JobUsage> found = new ArrayList<>();
    String job = Long.toString(failure.slurm().get().jobId());
    try (DumpText dump = new DumpText("\u001f", List.of(), ZoneOffset.UTC, usages, doubts)) {
      context.slurm().get().usage(DumpText.FIELDS, List.of(job), "", Optional.empty(), dump);
    } catch (SchedulerUnavailable outage) {
      problems.add("the memory that the job used is not known: " + outage.getMessage());
    }
    usages.each(found::add);
    if (found.isEmpty()) {
      return failure;
    }
    Failure.Accounted slurm =
        failure
            .slurm()
            .get()
            .using(
                Optional.ofNullable(found.get(0).maxRssBytes()),
                Optional.ofNullable(found.get(0).memoryBytes()));
    String kind = failure.verdict().root().map(Finding::failure).orElse("");
    return failure.measured(slurm, Remedy.of(kind, run.shownPlan().json(), slurm.peakBytes()));
  }

  private Optional<Waiting> waiting(
      RunFolder run, List<QueueEntry> queue, List<String> problems) {
    for (QueueEntry entry : queue) {
      if (entry.state() == JobState.PENDING) {
        return Optional.of(new ExplainWait(context).of(run, entry, problems));
      }
    }
    return Optional.empty();
  }
}
