package dev.nexa.slurm.run.control;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.Asked;
import dev.nexa.slurm.run.decision.Clearance;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.decision.Rerun;
import dev.nexa.slurm.run.decision.RunMoney;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.reconcile.CostRecord;
import dev.nexa.slurm.run.reconcile.EarlierJobs;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.reconcile.TaskOutcome;
import dev.nexa.slurm.run.results.TaskResults;
import dev.nexa.slurm.run.start.Submitted;
import dev.nexa.slurm.run.submit.Interruption;
import dev.nexa.slurm.run.submit.SubmitTasks;
import dev.nexa.slurm.storage.archive.ArchiveFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Implements {@code rerun RUN --failed}: runs some tasks again, as new attempts of the same run.
 *
 * @param approval the approval's file; if empty, the run's own approval, or one in the policy's
 *     folder, is used
 */
public record RerunTasks(Context context, Optional<String> approval) {
  /**
   * Submits tasks again.
   *
   * @param chosen the tasks; empty for all tasks that failed, timed out or were lost
   * @throws NexaException if the run is not settled, if a chosen task has not ended, or if an
   *     approval is missing
   */
  public Submitted rerun(RunFolder run, Optional<IndexRange> chosen) {
    return rerun(run, outcome -> chosen);
  }

  /**
   * Submits all tasks again that did not complete, also tasks that were cancelled.
   *
   * @throws NexaException as {@link #rerun(RunFolder, Optional)} does
   */
  public Submitted rerunUnfinished(RunFolder run) {
    return rerun(
        run, outcome -> Optional.of(tasks(outcome, task -> task.state() != JobState.COMPLETED)));
  }

  private static IndexRange tasks(RunOutcome outcome, Predicate<TaskOutcome> chosen) {
    return new IndexRange(outcome.tasks().stream().filter(chosen).map(TaskOutcome::task).toList());
  }

  private Submitted rerun(RunFolder run, Function<RunOutcome, Optional<IndexRange>> choice) {
    requireProven(run, run.journal().read());
    Scheduler scheduler = context.scheduler(RunLookup.scheduler(run));
    if (!isSettled(RunState.of(run.journal().read()), RunFacts.of(run, ProvenFiles.of(run)))) {
      // Right after a run's end no pass has looked at it yet.
      new ReconcileRuns(context).reconcile(List.of(run.id()));
    }
    Submitted submitted;
    try (FileLock lock = CancelRun.lock(run)) {
      submitted = rerunLocked(run, scheduler, choice, lock);
    }
    try {
      // The pass writes to the manifest that the run is running again.
      new ReconcileRuns(context).reconcile(List.of(run.id()));
    } catch (SchedulerUnavailable outage) {
      // The job is submitted in any case. A later pass updates the manifest.
    }
    return submitted;
  }

  private Submitted rerunLocked(
      RunFolder run,
      Scheduler scheduler,
      Function<RunOutcome, Optional<IndexRange>> choice,
      FileLock lock) {
    List<Event> events = run.journal().read();
    ProvenFiles files = requireProven(run, events);
    RunState state = RunState.of(events);
    RunFacts facts = RunFacts.of(run, files);
    requireSettled(run, state, facts);
    TaskEvidence evidence = TaskEvidence.gather(scheduler, List.of(state));
    RunOutcome outcome = evidence.outcome(run, facts, state, new ArrayList<>());
    requireKept(run, state, outcome);
    requireCheckpoints(run);
    Optional<IndexRange> chosen = choice.apply(outcome);
    IndexRange some =
        chosen.isPresent()
            ? requireEnded(run, facts, outcome, chosen.get())
            : failedTasks(run, outcome);
    // The groups of a job start together.
    IndexRange tasks =
        files.plan().groups().isEmpty()
            ? some
            : requireEnded(run, facts, outcome, IndexRange.upTo(facts.tasks()));
    // The dependencies of a run that is no stage of a pipeline were met when it ran first.
    String dependency =
        state.pipeline().isEmpty()
            ? ""
            : dependency(context, run, state.pipeline(), state.after(), scheduler);
    PlanFile plan = files.plan();
    String digest = facts.estimate().configDigest();
    int count = tasks.indices().size();
    Estimate estimate = Estimate.again(plan, digest, facts.rates(), count, 1);
    Estimate today = today(context, plan, digest, count, 1);
    Policy policy = context.configs().policy();
    new RequireNoHalt(context, policy).require(plan, state.pipeline());
    List<String> notes =
        new ArrayList<>(List.of((count == 1 ? "task " : "tasks ") + tasks + " again"));
    Rerun rerun =
        new Rerun(
            run,
            propose(files, plan, estimate),
            today,
            () ->
                new RunMoney(
                    costUntilNow(run, facts, state, outcome),
                    openTasks(plan, facts, outcome, tasks)));
    Proposal part = propose(files, plan.once(count), estimate);
    Asked asked = Asked.ofRerun(part, plan, part.addTo(EstimateFile.of(estimate, true)), rerun);
    try (Clearance clearance = Clearance.of(context, policy, asked, approval)) {
      notes.addAll(clearance.budgetNotes());
      try {
        begin(run, plan, lock, clearance.grant(), rerunEvent(tasks, estimate, clearance.grant()));
      } catch (RuntimeException failed) {
        clearance.release();
        throw failed;
      }
    }
    List<SubmitAnswer> answers =
        new SubmitTasks(scheduler, context.passing(), context.interruption())
            .submit(
                run,
                facts.work().array(),
                tasks,
                1,
                dependency,
                ProvenFiles.of(run).comment(),
                Optional.empty(),
                () -> {});
    context.interruption().end();
    RunState now = RunState.of(run.journal().read());
    List<String> keys = now.sinceRerun().stream().map(Submission::key).toList();
    return new Submitted(
        run,
        tasks,
        EstimateFile.of(estimate, false),
        estimate.total(),
        "",
        notes,
        List.of(),
        scheduler.name(),
        keys,
        answers,
        evidence.outcome(run, facts, now, new ArrayList<>()));
  }

  /**
   * Returns the value of sbatch's {@code --dependency} for a run that runs again.
   *
   * @param pipeline the pipeline that the run is a stage of
   * @throws NexaException if an earlier run has failed, or is not submitted yet
   */
  static String dependency(
      Context context,
      RunFolder run,
      Optional<String> pipeline,
      List<Earlier> after,
      Scheduler scheduler) {
    EarlierJobs.Answer answer =
        new EarlierJobs(context.workspace(), scheduler, Optional.empty()).of(after);
    if (answer instanceof EarlierJobs.Waits waits) {
      return waits.dependency();
    }
    String reason =
        answer instanceof EarlierJobs.Never never
            ? never.reason()
            : ((EarlierJobs.NotYet) answer).reason();
    throw ErrorCode.RERUN_IMPOSSIBLE.error(
        run.id() + " cannot start: " + reason,
        pipeline.isPresent()
            ? Advice.command(
                "runs the earlier stages again too",
                "nexa-slurm",
                "pipeline",
                "resume",
                pipeline.get())
            : Advice.command(
                "shows the earlier run", "nexa-slurm", "status", after.get(0).reference()));
  }

  /**
   * Records the rerun: from now on budgets see its reservation, and reconcile submits it if this
   * process dies.
   */
  private void begin(
      RunFolder run, PlanFile plan, FileLock lock, Optional<Grant> grant, Event rerun) {
    if (!lock.holds()) {
      throw new IllegalStateException(
          "the lock of " + run.id() + " was taken over while we hold it");
    }
    if (grant.isPresent()) {
      grant.get().hold(run.path().toString());
      run.keepApproval(grant.get().file().text());
    }
    context.workspace().markOpen(run.id());
    new StorageClaims(plan.storage()).moved(run);
    Interruption interruption = context.interruption();
    interruption.writeBefore(
        () -> {
          run.journal().append(rerun);
          interruption.begin(run, lock, true);
        });
  }

  /** Tasks go on from the run's checkpoints. Without this check, they would begin from nothing. */
  private void requireCheckpoints(RunFolder run) {
    Optional<ArchiveFile> archive = ArchiveFile.of(context.workspace(), run.id());
    Optional<Path> checkpoints = archive.flatMap(ArchiveFile::checkpoints);
    if (checkpoints.isEmpty() || Files.exists(checkpoints.get())) {
      return;
    }
    throw ErrorCode.RERUN_IMPOSSIBLE.error(
        "%s cannot go on: its checkpoints are in the archive %s, and %s does not exist"
            .formatted(run.id(), archive.get().where(), checkpoints.get()),
        Advice.command(
            "brings the checkpoints back", "nexa-slurm", "archive", "restore", run.id().value()),
        Advice.command(
            "begins from nothing, as a new run", "nexa-slurm", "rerun", run.id().value()));
  }

  private static Money costUntilNow(
      RunFolder run, RunFacts facts, RunState state, RunOutcome outcome) {
    TaskResults results =
        TaskResults.read(run, state, !facts.work().points().isEmpty(), new ArrayList<>());
    return CostRecord.cost(facts, state, outcome, results).total();
  }

  /**
   * Returns the most that tasks can cost which have not ended.
   *
   * @param again the tasks of the rerun, which have ended
   */
  private static Money openTasks(
      PlanFile plan, RunFacts facts, RunOutcome outcome, IndexRange again) {
    int open =
        tasks(outcome, task -> !task.ended() && !again.indices().contains(task.task()))
            .indices()
            .size();
    Estimate all =
        Estimate.again(
            plan,
            facts.estimate().configDigest(),
            facts.rates(),
            Math.max(1, open),
            facts.work().array().chain());
    return open == 0 ? Money.zero(all.total().currency()) : all.total();
  }

  private static Event rerunEvent(IndexRange tasks, Estimate estimate, Optional<Grant> grant) {
    return Event.now(
        Event.Type.RERUN,
        new JsonObject()
            .with("user", UnixUser.me().user())
            .with("tasks", tasks.toString())
            .with("reservation", estimate.total().amount().toPlainString())
            .withOptional("approval_id", grant.map(taken -> taken.approval().id()))
            .withOptional("approval_sha256", grant.map(taken -> Sha256.of(taken.file().text()))));
  }

  private Proposal propose(ProvenFiles files, PlanFile plan, Estimate estimate) {
    return Proposal.of(context.root(), plan, files.script(), estimate, UnixUser.me());
  }

  /**
   * Checks that every submission of the run is settled, because a rerun would hide unfinished work.
   */
  private static void requireSettled(RunFolder run, RunState state, RunFacts facts) {
    if (isSettled(state, facts)) {
      return;
    }
    throw ErrorCode.RUN_NOT_SETTLED.error(
        run.id()
            + (state.cancelRequested()
                ? " is being cancelled, and not all of its jobs have ended"
                : " has a job that Slurm has not confirmed yet: it was submitted a few seconds ago, or"
                    + " Slurm did not answer"),
        Advice.command("shows its state", "nexa-slurm", "status", run.id()),
        Advice.step("wait 10 seconds, then type this command again"));
  }

  /** Returns whether each job of the run is known, and the run is not being cancelled. */
  private static boolean isSettled(RunState state, RunFacts facts) {
    int links = facts.work().array().chain();
    return state.finished()
        || (!state.cancelRequested()
            && state.unsubmitted(facts.tasks(), links).indices().isEmpty()
            && state.current().stream().allMatch(one -> one.phase() == Submission.Phase.CONFIRMED));
  }

  /**
   * Checks that accounting still has all attempts: the cost file is derived again, and would lose
   * the others.
   */
  private static void requireKept(RunFolder run, RunState state, RunOutcome outcome) {
    if (!Files.exists(run.cost())) {
      return;
    }
    byte[] bytes = DurableFiles.readBytes(run.cost());
    if (state.finished()
        && state.costDigest().filter(kept -> !kept.equals(Sha256.of(bytes))).isPresent()) {
      throw ErrorCode.FILE_CHANGED.error(
          run.cost() + " was changed since " + run.id() + " was over",
          Advice.command("puts back what was final", "nexa-slurm", "audit", "--repair", run.id()));
    }
    int kept =
        CostFile.parse(new String(bytes, StandardCharsets.UTF_8), run.cost().toString())
            .attemptCount();
    if (outcome.attempts().size() < kept) {
      throw ErrorCode.RERUN_IMPOSSIBLE.error(
          "accounting has %s attempts of %s, but its cost file has %s: their cost would be lost"
              .formatted(outcome.attempts().size(), run.id(), kept),
          Advice.command("makes a new run", "nexa-slurm", "rerun", run.id()));
    }
  }

  /** Returns the tasks that failed, timed out or were lost. A cancelled task is not repeated. */
  private static IndexRange failedTasks(RunFolder run, RunOutcome outcome) {
    Set<JobState> left = Set.of(JobState.COMPLETED, JobState.CANCELLED);
    IndexRange failed = tasks(outcome, task -> task.ended() && !left.contains(task.state()));
    if (failed.indices().isEmpty()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          "no task of " + run.id() + " has failed, timed out or been lost",
          Advice.command("runs all of it again, as a new run", "nexa-slurm", "rerun", run.id()),
          Advice.step("--tasks 3,7-9 names tasks, which run again as a part of this run"));
    }
    return failed;
  }

  private static IndexRange requireEnded(
      RunFolder run, RunFacts facts, RunOutcome outcome, IndexRange chosen) {
    for (int task : chosen.indices()) {
      RunLookup.requireTask(run, task);
      if (facts.work().array().chain() > 1
          && outcome.tasks().get(task).state() == JobState.COMPLETED) {
        throw ErrorCode.RERUN_IMPOSSIBLE.error(
            "task " + task + " of " + run.id() + " has completed: its chain does nothing more",
            Advice.command("makes a new run", "nexa-slurm", "rerun", run.id()));
      }
      if (!outcome.tasks().get(task).ended()) {
        throw ErrorCode.RUN_NOT_SUITABLE.error(
            "task " + task + " of " + run.id() + " has not ended",
            Advice.command("ends it", "nexa-slurm", "cancel", run.id()),
            Advice.command("lets it begin again", "nexa-slurm", "interrupt", run.id()));
      }
    }
    return chosen;
  }

  static NexaException notSubmittedHere(RunFolder run) {
    return ErrorCode.RERUN_IMPOSSIBLE.error(
        run.id() + " was not submitted from here: there is no script to run again",
        "submit its config");
  }

  /**
   * Returns the proven files of a run that may run again.
   *
   * @param events the run's journal
   * @throws NexaException if the run died before it was planned, or if a file differs from the
   *     submitted one
   */
  static ProvenFiles requireProven(RunFolder run, List<Event> events) {
    ProvenFiles files = ProvenFiles.of(run, events);
    if (!files.staged()) {
      throw notSubmittedHere(run);
    }
    files.plan();
    files.estimate();
    files.script();
    files.requireCode();
    return files;
  }

  /**
   * Returns the estimate of a rerun at today's prices.
   *
   * @param plan the content of plan.json
   * @param digest the digest of the plan
   * @param links how many links of the chain are made again
   */
  static Estimate today(Context context, PlanFile plan, String digest, int tasks, int links) {
    ClusterProfile cluster = context.configs().cluster(plan.cluster());
    PriceKey key = PriceKey.of(plan, cluster, LocalDate.now(ZoneOffset.UTC));
    PriceBook prices = context.configs().prices(cluster);
    return key.each(cluster).stream()
        .map(one -> Estimate.again(plan, digest, Rates.of(prices, one), tasks, links))
        .reduce(Estimate::orMore)
        .orElseThrow();
  }
}
