package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Grant;
import dev.nexa.slurm.approve.Person;
import dev.nexa.slurm.approve.Proposal;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.reconcile.CostRecord;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.Results;
import dev.nexa.slurm.reconcile.RunFacts;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.reconcile.TaskOutcome;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.submit.SubmitTasks;
import dev.nexa.slurm.units.IndexRange;
import dev.nexa.slurm.units.Money;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code rerun RUN --failed}: some tasks of a run once more, as new attempts of the same run. */
public final class RerunTasks {
  private final Nexa nexa;
  private final Optional<String> approval;

  /**
   * For one command.
   *
   * @param approval the file that covers it; else the run's own, or one where the policy says
   */
  public RerunTasks(Nexa nexa, Optional<String> approval) {
    this.nexa = nexa;
    this.approval = approval;
  }

  /**
   * Submits tasks again.
   *
   * @param chosen which; empty for those that failed, timed out or were lost
   */
  public Submitted rerun(RunFolder run, Optional<IndexRange> chosen) {
    requireStaged(run);
    Scheduler scheduler = nexa.scheduler(RunLookup.scheduler(run));
    Submitted submitted;
    try (FileLock lock = CancelRun.lock(run)) {
      submitted = locked(run, scheduler, chosen, lock);
    }
    try {
      // Its manifest says running again.
      new ReconcileRuns(nexa).reconcile(List.of(run.id()));
    } catch (SchedulerUnavailable outage) {
      // The job is submitted all the same, and reconcile says so later.
    }
    return submitted;
  }

  private Submitted locked(
      RunFolder run, Scheduler scheduler, Optional<IndexRange> chosen, FileLock lock) {
    RunState state = RunState.of(run.journal().read());
    RunFacts facts = RunFacts.of(run);
    requireSettled(run, state, facts);
    Evidence evidence = Evidence.gather(scheduler, List.of(state));
    RunOutcome outcome = evidence.outcome(run, facts, state, new ArrayList<>());
    requireKept(run, outcome);
    IndexRange tasks =
        chosen.isPresent() ? ended(run, facts, outcome, chosen.get()) : failed(run, outcome);
    JsonObject plan = run.planJson();
    Estimate estimate = Estimate.again(plan, run.estimateJson(), tasks.indices().size(), 1);
    Policy policy = nexa.configs().policy();
    List<String> notes = new ArrayList<>();
    notes.add((tasks.indices().size() == 1 ? "task " : "tasks ") + tasks + " again");
    List<SubmitAnswer> answers;
    try (BudgetGate budgets = BudgetGate.enter(nexa, policy, plan)) {
      notes.addAll(budgets.notes(estimate.total()));
      Optional<Grant> grant =
          approval.isPresent() || Clearance.needsApproval(estimate, policy, budgets)
              ? approved(run, policy, plan, estimate, spent(run, facts, state, outcome), budgets)
              : Optional.empty();
      if (!lock.holds()) {
        grant.ifPresent(Grant::release);
        throw new IllegalStateException(
            "the lock of " + run.id() + " was taken over while we hold it");
      }
      if (grant.isPresent()) {
        grant.get().hold(run.path().toString());
        run.keepApproval(grant.get().file().text());
      }
      nexa.workspace().markOpen(run.id());
      answers =
          new SubmitTasks(scheduler, nexa.passing())
              .submit(run, facts.array(), tasks, 1, "", Optional.of(asked(tasks, estimate, grant)));
    }
    RunState now = RunState.of(run.journal().read());
    List<String> keys = new ArrayList<>();
    List<Submission> made = now.submissions();
    for (Submission submission : made.subList(now.submissionsBefore(), made.size())) {
      keys.add(submission.key());
    }
    return new Submitted(
        run,
        tasks,
        estimate.toJson(false),
        estimate.total(),
        notes,
        List.of(),
        scheduler.name(),
        keys,
        answers,
        evidence.outcome(run, facts, now, new ArrayList<>()));
  }

  private static Money spent(RunFolder run, RunFacts facts, RunState state, RunOutcome outcome) {
    Results results = Results.read(run, state, !facts.points().isEmpty(), new ArrayList<>());
    return CostRecord.total(facts, state, outcome, results);
  }

  private static Event asked(IndexRange tasks, Estimate estimate, Optional<Grant> grant) {
    return Event.now(
        Event.Type.RERUN,
        new JsonObject()
            .with("user", System.getProperty("user.name", ""))
            .with("tasks", tasks.toString())
            .with("reservation", estimate.total().amount().toPlainString())
            .withOptional("approval_id", grant.map(taken -> taken.approval().id())));
  }

  /**
   * The run's own approval, of which no other use is taken, or else another one. The run is settled
   * at the rates it has, so those must be the ones that were approved.
   */
  private Optional<Grant> approved(
      RunFolder run,
      Policy policy,
      JsonObject plan,
      Estimate estimate,
      Money spent,
      BudgetGate budgets) {
    Script script = run.storedScript();
    Proposal proposal = Proposal.of(nexa.root(), plan, script, estimate, Person.me());
    RequireApproval required =
        new RequireApproval(nexa, policy, proposal, proposal.addTo(estimate.toJson(true)), budgets);
    List<String> reasons = new ArrayList<>();
    if (approval.isEmpty() && required.ofRun(run, script, spent, reasons).isPresent()) {
      return Optional.empty();
    }
    Approved approved;
    do {
      approved = required.check(approval, reasons);
      if (!approved.estimate().rates().equals(estimate.rates())) {
        throw new NexaException(
            ExitCode.NEEDS_APPROVAL,
            run.id() + " has other rates than were approved, and is settled at those it has",
            "approve the estimate of this rerun: "
                + nexa.workspace().estimate(estimate.configDigest()));
      }
    } while (!approved.grant().claim());
    return Optional.of(approved.grant());
  }

  /** A rerun would hide what is still to be done. */
  private static void requireSettled(RunFolder run, RunState state, RunFacts facts) {
    boolean settled =
        state.finished()
            || (!state.cancelRequested()
                && state.unsubmitted(facts.tasks(), facts.array().chain()).indices().isEmpty());
    for (Submission submission : state.current()) {
      settled &= state.finished() || submission.phase() == Submission.Phase.CONFIRMED;
    }
    if (!settled) {
      throw new NexaException(
          ExitCode.USAGE,
          run.id()
              + " is not settled: it is being cancelled, or some of its jobs are not known yet",
          "type `nexa-slurm reconcile`, then this again");
    }
  }

  /** The cost file is made anew: what accounting has forgotten since would be missing in it. */
  private static void requireKept(RunFolder run, RunOutcome outcome) {
    if (!Files.exists(run.cost())) {
      return;
    }
    JsonObject cost = Json.parseObject(DurableFiles.read(run.cost()));
    int kept = cost.object("actual").objects("attempts").size();
    if (outcome.attempts().size() < kept) {
      throw new NexaException(
          ExitCode.USAGE,
          "accounting tells of "
              + outcome.attempts().size()
              + " attempts of "
              + run.id()
              + ", its cost file of "
              + kept
              + ": their cost would be lost",
          "`nexa-slurm rerun " + run.id() + "` makes a new run");
    }
  }

  /** What failed, timed out or was lost; what somebody cancelled was not to run. */
  private static IndexRange failed(RunFolder run, RunOutcome outcome) {
    List<Integer> failed = new ArrayList<>();
    for (TaskOutcome task : outcome.tasks()) {
      boolean well = task.state() == JobState.COMPLETED || task.state() == JobState.CANCELLED;
      if (task.ended() && !well) {
        failed.add(task.task());
      }
    }
    if (failed.isEmpty()) {
      throw new NexaException(
          ExitCode.USAGE,
          "no task of " + run.id() + " has failed, timed out or been lost",
          "--tasks 3,7-9 names tasks; without --failed all of it runs again, as a new run");
    }
    return new IndexRange(failed);
  }

  private static IndexRange ended(
      RunFolder run, RunFacts facts, RunOutcome outcome, IndexRange chosen) {
    for (int task : chosen.indices()) {
      RunLookup.requireTask(run, task);
      if (facts.array().chain() > 1 && outcome.tasks().get(task).state() == JobState.COMPLETED) {
        throw new NexaException(
            ExitCode.USAGE,
            "task " + task + " of " + run.id() + " has completed: its chain does nothing more",
            "`nexa-slurm rerun " + run.id() + "` makes a new run");
      }
      if (!outcome.tasks().get(task).ended()) {
        throw new NexaException(
            ExitCode.USAGE,
            "task " + task + " of " + run.id() + " has not ended",
            "`nexa-slurm cancel` ends it, `nexa-slurm interrupt` lets it begin again");
      }
    }
    return chosen;
  }

  /** Refuses a run that died before it was planned. */
  static void requireStaged(RunFolder run) {
    if (!Files.exists(run.plan()) || !Files.exists(run.estimate())) {
      throw new NexaException(
          ExitCode.USAGE,
          run.id() + " was not submitted from here: there is no script to run again",
          "submit its config");
    }
  }
}
