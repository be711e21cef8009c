package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Grant;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.RunFacts;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.reconcile.RunRecords;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.serve.ApiKey;
import dev.nexa.slurm.submit.ArrayShape;
import dev.nexa.slurm.submit.CrashPoint;
import dev.nexa.slurm.submit.SubmitTasks;
import dev.nexa.slurm.units.IndexRange;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A run that does not exist yet: its folder, what will run, and its submissions.
 *
 * @param plan as plan.json keeps it
 * @param estimate as estimate.json keeps it
 * @param clearance that it has; closed once its reservation can be seen
 * @param notes what a person should know of how it was planned
 * @param ownFiles the workspace's own files that it is made from
 * @param dependency what its jobs wait for, as sbatch takes it; empty for nothing
 */
record NewRun(
    Script script,
    JsonObject plan,
    JsonObject estimate,
    Clearance clearance,
    List<String> notes,
    List<String> ownFiles,
    String dependency) {

  /** Claims a run id, stages everything, then submits. */
  Submitted submit(Nexa nexa) {
    Scheduler scheduler;
    RunFolder run;
    try {
      scheduler = nexa.scheduler(plan.text("scheduler"));
      run = nexa.workspace().claim(plan.text("stage"), Instant.now());
    } catch (RuntimeException failed) {
      clearance.release();
      throw failed;
    }
    nexa.passing().accept(CrashPoint.RUN_CLAIMED);
    try (FileLock lock = lock(nexa, run)) {
      return locked(nexa, scheduler, run, lock);
    }
  }

  private static FileLock lock(Nexa nexa, RunFolder run) {
    try {
      return run.lock(Duration.ofSeconds(5)).orElseThrow();
    } catch (UncheckedIOException failed) {
      nexa.workspace().files().removeEmpty(run.path());
      throw failed;
    }
  }

  private Submitted locked(Nexa nexa, Scheduler scheduler, RunFolder run, FileLock lock) {
    nexa.workspace().markOpen(run.id());
    nexa.passing().accept(CrashPoint.RUN_OPENED);
    Optional<Grant> grant = clearance.grant();
    if (grant.isPresent()) {
      grant.get().hold(run.path().toString());
      run.keepApproval(grant.get().file().text());
    }
    JsonObject digests = run.stage(script, plan, estimate);
    if (plan.optionalText("served_model").isPresent()) {
      ApiKey.make(run, nexa.workspace().files());
    }
    nexa.passing().accept(CrashPoint.RUN_STAGED);
    clearance.close();
    if (!lock.holds()) {
      throw new IllegalStateException(
          "the lock of " + run.id() + " was taken over while we hold it");
    }
    try {
      return submitted(nexa, scheduler, run, digests);
    } catch (UncheckedIOException failed) {
      throw new NexaException(
          ExitCode.DEFECT,
          String.valueOf(failed.getMessage()),
          failed,
          "a job may exist: do not submit again",
          "mend that, then `nexa-slurm reconcile` finds out and goes on with " + run.id());
    }
  }

  private Submitted submitted(Nexa nexa, Scheduler scheduler, RunFolder run, JsonObject digests) {
    Workspace workspace = nexa.workspace();
    ArrayShape array = ArrayShape.of(plan);
    IndexRange tasks = IndexRange.upTo(array.tasks());
    List<SubmitAnswer> answers =
        new SubmitTasks(scheduler, nexa.passing())
            .submit(run, array, tasks, array.chain(), dependency, Optional.of(created(digests)));
    RunState state = RunState.of(run.journal().read());
    RunFacts facts = RunFacts.of(run, plan, estimate);
    RunOutcome outcome = RunOutcome.of(facts, state, List.of(), List.of(), Map.of(), Instant.now());
    new RunRecords(workspace, nexa.passing())
        .write(run, facts, state, outcome, Set.of(), new ArrayList<>());
    workspace.linkLatest(run.id());
    List<String> keys = new ArrayList<>();
    for (Submission submission : state.submissions()) {
      keys.add(submission.key());
    }
    return new Submitted(
        run,
        tasks,
        estimate,
        clearance.total(),
        notes,
        ownFiles,
        scheduler.name(),
        keys,
        answers,
        outcome);
  }

  private Event created(JsonObject digests) {
    JsonObject data =
        new JsonObject()
            .with("user", System.getProperty("user.name", ""))
            .with("config", plan.text("config"))
            .with("config_digest", estimate.text("config_digest"))
            .with("sha256", digests);
    Optional<Grant> grant = clearance.grant();
    if (grant.isPresent()) {
      data.with("approval_id", grant.get().approval().id())
          .with("approver", grant.get().approval().approver());
    }
    return Event.now(Event.Type.CREATED, data);
  }
}
