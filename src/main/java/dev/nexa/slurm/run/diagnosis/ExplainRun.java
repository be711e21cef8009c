package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.cluster.sacct.DumpText;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import dev.nexa.slurm.cluster.sacct.JobUsages;
import dev.nexa.slurm.cluster.sacct.Problems;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.records.documents.PackedIndices;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.telemetry.UseNotes;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.AccountCheck;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.results.TaskResults;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Finds out why a run failed, or why it waits. Reads only. */
public final class ExplainRun {
  /** How many last lines to show if no cause is known. */
  private static final int LAST_LINES = 8;

  private final Context context;
  private Optional<FailurePatterns> read = Optional.empty();

  public ExplainRun(Context context) {
    this.context = context;
  }

  /** Reads the signatures once. A workspace's file may be wrong, which ends only {@code why}. */
  private FailurePatterns signatures() {
    if (read.isEmpty()) {
      read = Optional.of(context.configs().signatures());
    }
    return read.get();
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
    FailedTasks tasks = FailedTasks.of(context, run, journal, facts, problems);
    Optional<Failure> failure =
        failure(run, facts, journal, tasks, task, problems)
            .map(one -> withMemory(one, run, problems))
            .map(one -> one.cancelledBy(this::userName));
    List<Explanation.Similar> similar =
        failure
            .map(it -> new SimilarRuns(context.workspace(), signatures()).to(run.id(), it))
            .orElse(List.of());
    return new Explanation(
        run.id(),
        run.shownPlan().config(),
        tasks.state(),
        failure,
        refusals(journal),
        tasks.doubts(),
        waiting(run, tasks.queue(), problems),
        similar,
        failure.isPresent() ? new SinceLastGood(context.workspace()).of(run) : Optional.empty(),
        UseNotes.of(run),
        facts.work().packed().isEmpty()
            ? Optional.empty()
            : TaskResults.read(run, journal, false, new ArrayList<>())
                .packed(facts.work().packed())
                .map(PackedIndices::sentence));
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
      FailedTasks tasks = FailedTasks.of(context, run, journal, facts, unsaid);
      return failure(run, facts, journal, tasks, OptionalInt.empty(), unsaid)
          .map(Failure::sentence);
    } catch (RuntimeException unreadable) {
      return Optional.empty();
    }
  }

  /**
   * Explains a finished run from its files alone: asks no scheduler, and looks for no similar runs.
   * Empty if no task failed.
   *
   * @param problems receives a line for each file that could not be read
   */
  public Optional<Failure> recorded(RunFolder run, List<String> problems) {
    RunFacts facts = RunFacts.shown(run);
    RunState journal = RunState.of(run.journal().read());
    if (!journal.finished()) {
      return Optional.empty();
    }
    FailedTasks tasks = FailedTasks.of(context, run, journal, facts, problems);
    return failure(run, facts, journal, tasks, OptionalInt.empty(), problems);
  }

  /** Returns a sentence about the result of each submission without a job. */
  private static List<String> refusals(RunState journal) {
    return journal.current().stream()
        .filter(submission -> !submission.message().isEmpty())
        .map(
            submission ->
                switch (submission.phase()) {
                  case REFUSED -> "The scheduler refused the job: " + submission.message();
                  case CLOSED -> "There is no job: " + submission.message();
                  default ->
                      "It is not known whether there is a job: "
                          + submission.message()
                          + "; `nexa-slurm reconcile` finds out, do not submit again";
                })
        .toList();
  }

  private Optional<Failure> failure(
      RunFolder run,
      RunFacts facts,
      RunState journal,
      FailedTasks tasks,
      OptionalInt named,
      List<String> problems) {
    boolean groups = !facts.planned().groups().isEmpty();
    Optional<EndedAttempt> chosen =
        tasks.first(groups && named.isEmpty() ? failedGroup(run, journal, problems) : named);
    if (chosen.isEmpty() || chosen.get().state() == JobState.REFUSED) {
      return Optional.empty();
    }
    EndedAttempt attempt = chosen.get();
    Optional<OwnRecord> own = own(run, journal, facts, attempt, problems);
    AttemptLogs logs = new AttemptLogs(run, attempt, own, problems);
    LogReading reading = logs.read(signatures());
    Optional<Finding> stated = Stated.by(attempt, facts.work().timeLimit());
    Verdict decided = Verdict.of(attempt.state(), stated, own, reading);
    String kind = decided.root().map(Finding::failure).orElse("");
    JsonObject plan = run.shownPlan().json();
    Path config = context.root().resolve(run.shownPlan().config());
    Verdict verdict =
        decided
            .root()
            .flatMap(root -> OwnModule.of(root, plan, config).or(() -> requeued(root, plan)))
            .map(decided::withRoot)
            .orElse(decided);
    return Optional.of(
        new Failure(
            new Failure.Place(
                attempt.task(),
                groups ? 1 : tasks.attempts().size(), // one's failure ends all
                attempt.restart() + 1,
                own.flatMap(OwnRecord::rank),
                own.flatMap(OwnRecord::node),
                run.shownPlan().group(attempt.task())),
            attempt.exitCode().isEmpty()
                ? Optional.empty()
                : Optional.of(Failure.Accounted.of(attempt, facts.work().timeLimit())),
            verdict,
            reading.confirming(kind),
            reading.followed(),
            Remedy.of(verdict.root(), plan, memory(run), Optional.empty()),
            logs.newest(),
            status(attempt, own),
            Clue.of(verdict.root(), plan),
            verdict.isShown() ? List.of() : logs.last(LAST_LINES)));
  }

  /** Returns the group whose failure ended the others; empty if none has left a record. */
  private static OptionalInt failedGroup(RunFolder run, RunState journal, List<String> problems) {
    return TaskResults.read(run, journal, false, problems).failures().stream()
        .map(OwnRecord::of)
        .mapToInt(OwnRecord::task)
        .reduce((earlier, later) -> later);
  }

  /** Returns the finding with other advice if the run already has the requeues that it advises. */
  private static Optional<Finding> requeued(Finding root, JsonObject plan) {
    long requeues = plan.number("requeues");
    return requeues == 0 || !root.key().equals(Optional.of("requeues"))
        ? Optional.empty()
        : Optional.of(
            root.advising(
                "The run has requeues: "
                    + requeues
                    + " already. Submit it again; if a node is at fault, tell the admins its name."));
  }

  /** Returns the exit status; accounting prints it as {@code exit:signal}. */
  private static OptionalInt status(EndedAttempt attempt, Optional<OwnRecord> own) {
    if (own.isPresent()) {
      return OptionalInt.of(own.get().exitCode());
    }
    String[] parts = attempt.exitCode().split(":", -1);
    if (parts.length != 2 || !(parts[0] + parts[1]).matches("\\d{2,6}")) {
      return OptionalInt.empty();
    }
    int signal = Integer.parseInt(parts[1]);
    return OptionalInt.of(signal > 0 ? 128 + signal : Integer.parseInt(parts[0]));
  }

  /** Returns the attempt's own record of its first failure; empty if it left none. */
  private static Optional<OwnRecord> own(
      RunFolder run,
      RunState journal,
      RunFacts facts,
      EndedAttempt attempt,
      List<String> problems) {
    // Failures of later submissions come later.
    return TaskResults.read(run, journal, !facts.work().points().isEmpty(), problems)
        .failures()
        .stream()
        .map(OwnRecord::of)
        .filter(one -> one.task() == attempt.task() && one.restart() == attempt.restart())
        .reduce((earlier, later) -> later);
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
    try (DumpText dump = DumpText.ofSacct(usages, doubts)) {
      context
          .slurm()
          .get()
          .usage(DumpText.FIELDS, List.of(job), "", Optional.empty(), Optional.empty(), dump);
    } catch (NexaException unknown) {
      problems.add("the memory that the job used is not known: " + unknown.getMessage());
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
    Verdict verdict = failure.verdict().measured(slurm.peakBytes(), slurm.memoryBytes());
    return failure.with(
        Optional.of(slurm),
        verdict,
        Remedy.of(verdict.root(), run.shownPlan().json(), memory(run), slurm.peakBytes()));
  }

  /** Returns what the run's estimate says of the memory of a GPU; empty if it says nothing. */
  private static Optional<JsonObject> memory(RunFolder run) {
    try {
      return run.shownEstimate().json().optionalObject("memory");
    } catch (RuntimeException unreadable) {
      return Optional.empty();
    }
  }

  /** Returns the login name of a uid; empty if this machine does not know it. */
  private Optional<String> userName(String uid) {
    try {
      CommandResult result =
          new CommandRunner()
              .run(
                  new Command(
                      List.of("id", "-nu", "--", uid),
                      context.environment(),
                      context.root(),
                      Duration.ofSeconds(5)));
      String name = result.out().strip();
      return result.succeeded() && !name.isEmpty() ? Optional.of(name) : Optional.empty();
    } catch (IOException noProgram) {
      return Optional.empty();
    }
  }

  private Optional<Waiting> waiting(RunFolder run, List<QueueEntry> queue, List<String> problems) {
    Optional<QueueEntry> waiting =
        queue.stream().filter(entry -> entry.state() == JobState.PENDING).findFirst();
    waiting
        .map(entry -> run.shownPlan())
        .filter(plan -> !plan.isLocal())
        .flatMap(plan -> AccountCheck.of(context, plan.account()))
        .ifPresent(problems::add);
    return waiting.map(entry -> new ExplainWait(context).of(run, entry, problems));
  }
}
