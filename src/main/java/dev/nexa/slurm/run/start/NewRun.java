package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.ProgramFile;
import dev.nexa.slurm.base.program.ProgramVersion;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.job.code.PackedCode;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunInput;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.Clearance;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.RunRecords;
import dev.nexa.slurm.run.server.ApiKey;
import dev.nexa.slurm.run.submit.ArrayShape;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.SubmitTasks;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A run that is ready to be submitted, but has no id and no folder yet.
 *
 * @param plan the content of plan.json
 * @param estimate the content of estimate.json
 * @param clearance the permission to start; closed when the run's reservation is on disk
 * @param asks what the run's sum is for, in words
 * @param notes lines for the user about how the run was planned
 * @param ownFiles the workspace's own files that the run is made from
 * @param after what the run waits for, for its journal
 * @param dependency the value of sbatch's {@code --dependency}; empty for none
 * @param inputs what the job reads of earlier runs
 * @param code the working tree to store; empty if the run has none, or if its archive is stored
 *     already
 * @param program our own program to store; empty if the job does not run it, or if it is stored
 *     already
 */
public record NewRun(
    Script script,
    PlanFile plan,
    EstimateFile estimate,
    Clearance clearance,
    String asks,
    List<String> notes,
    List<String> ownFiles,
    List<Earlier> after,
    String dependency,
    List<RunInput> inputs,
    Optional<PackedCode> code,
    List<ProgramFile> program) {

  /**
   * A run whose files are on disk and which has no job yet. The caller holds its lock.
   *
   * @param of the run's content
   * @param run the run's folder
   * @param lock the run's lock
   */
  public record Staged(NewRun of, RunFolder run, FileLock lock) implements AutoCloseable {
    /** Writes the run's manifest, after its jobs were submitted. */
    public void writeManifest(Context context) {
      of.record(context, run, RunState.of(run.journal().read()), Instant.now());
    }

    @Override
    public void close() {
      lock.close();
    }
  }

  /**
   * Claims a run id and writes all files of a pipeline's stage. Submits nothing.
   *
   * @param pipeline the pipeline's id
   * @throws NexaException if the files cannot be written; the run's id may be taken then
   */
  public Staged stage(Context context, String pipeline) {
    storeCode(context);
    RunFolder run = claim(context);
    FileLock lock = lock(context, run);
    try {
      // The pipeline holds the use of the approval.
      JsonObject digests = writeFiles(context, run, false);
      run.journal().append(createdEvent(digests, Optional.of(pipeline)));
    } catch (UncheckedIOException failed) {
      lock.close();
      throw noJob(context, failed);
    }
    return new Staged(this, run, lock);
  }

  /**
   * Claims a run id, writes all files of the run, then submits its jobs.
   *
   * @throws NexaException if the files cannot be written, or if another process gave up the run's
   *     id; the advice says whether a job may exist
   */
  public Submitted submit(Context context) {
    Scheduler scheduler;
    RunFolder run;
    try {
      context.workspace().requirePathForLogs();
      scheduler = context.schedulerToSubmit(plan.scheduler());
      storeCode(context);
      run = claim(context);
    } catch (RuntimeException failed) {
      clearance.release();
      throw failed;
    }
    try (FileLock lock = lock(context, run)) {
      return writeAndSubmit(context, scheduler, run, lock);
    }
  }

  /** Stores what the job runs before the run has a name: a crash leaves no run without it. */
  private void storeCode(Context context) {
    try {
      if (code.isPresent()) {
        context.workspace().storeCode(code.get().sha256(), code.get()::writeTo);
      }
      if (!program.isEmpty()) {
        context.workspace().storeProgram(program);
      }
    } catch (UncheckedIOException failed) {
      throw noJob(context, failed);
    }
  }

  private RunFolder claim(Context context) {
    Workspace workspace = context.workspace();
    try {
      StorageClaims tiers = new StorageClaims(plan.storage());
      RunFolder run;
      do {
        run = workspace.name(plan.stage(), Instant.now(), tiers);
        context.passing().accept(CrashPoint.RUN_NAMED);
      } while (!workspace.make(run, tiers));
      context.passing().accept(CrashPoint.RUN_CLAIMED);
      return run;
    } catch (UncheckedIOException failed) {
      throw noJob(context, failed);
    }
  }

  private FileLock lock(Context context, RunFolder run) {
    try {
      FileLock lock = run.lock(Duration.ofSeconds(5)).orElseThrow();
      if (context.workspace().isOpen(run.id())) {
        return lock;
      }
      lock.close();
    } catch (UncheckedIOException failed) {
      clearance.release();
      context.workspace().giveUp(run);
      throw noJob(context, failed);
    }
    clearance.release();
    throw ErrorCode.CONCURRENT_CHANGE.error(
        run.id() + " was given up by a pass of reconcile: its submitter stood still for too long",
        "no job was made; submit again");
  }

  /** Returns the error for a failure before sbatch was called. */
  private static NexaException noJob(Context context, UncheckedIOException failed) {
    Path root = context.root().toAbsolutePath().normalize();
    if (failed.getCause() instanceof AccessDeniedException && !Files.isWritable(root)) {
      String owner = Workspace.ownerOf(root);
      if (owner.equals(UnixUser.me().user())) {
        return ErrorCode.SUBMIT_NOT_STARTED.error(
            root + " is yours, and you may not write to it; no job was made",
            Advice.command("", "chmod", "u+w", root));
      }
      return ErrorCode.SUBMIT_NOT_STARTED.error(
          "you may not submit runs in %s, which belongs to %s; no job was made"
              .formatted(root, owner),
          "for a workspace of your own: mkdir ~/runs && cd ~/runs && nexa-slurm init",
          "to share this one, %s types: %s"
              .formatted(
                  owner,
                  Advice.command(
                      "", "nexa-slurm", "init", "--workspace", root, "--group", "GROUP")));
    }
    return ErrorCode.SUBMIT_NOT_STARTED.error(
        String.valueOf(failed.getMessage()),
        failed,
        Advice.step("no job was made; fix that, then submit again"));
  }

  private Submitted writeAndSubmit(
      Context context, Scheduler scheduler, RunFolder run, FileLock lock) {
    context.passing().accept(CrashPoint.RUN_LOCKED);
    JsonObject digests;
    try {
      digests = writeFiles(context, run, true);
    } catch (UncheckedIOException failed) {
      throw noJob(context, failed);
    }
    context.passing().accept(CrashPoint.RUN_STAGED);
    clearance.close();
    if (!lock.holds()) {
      throw new IllegalStateException(
          "the lock of " + run.id() + " was taken over while we hold it");
    }
    try {
      return submitJobs(context, scheduler, run, lock, digests);
    } catch (UncheckedIOException failed) {
      throw ErrorCode.SUBMIT_UNCERTAIN.error(
          String.valueOf(failed.getMessage()),
          failed,
          Advice.step("a job may exist: do not submit again"),
          Advice.command(
              "finds out and goes on with " + run.id() + ", once that is fixed",
              "nexa-slurm",
              "reconcile"));
    }
  }

  private JsonObject writeFiles(Context context, RunFolder run, boolean holds) {
    Optional<Grant> grant = clearance.grant();
    if (grant.isPresent()) {
      if (holds) {
        grant.get().hold(run.path().toString());
      }
      run.keepApproval(grant.get().file().text());
    }
    JsonObject digests =
        run.stage(script, plan.submittedBy(ProgramVersion.read().number()), estimate);
    for (RunInput input : inputs) {
      run.linkInput(input);
    }
    if (plan.servedModel().isPresent()) {
      ApiKey.make(run, context.workspace().files());
    }
    return digests;
  }

  private Submitted submitJobs(
      Context context, Scheduler scheduler, RunFolder run, FileLock lock, JsonObject digests) {
    Workspace workspace = context.workspace();
    ArrayShape array = ArrayShape.of(plan);
    IndexRange tasks = IndexRange.upTo(array.tasks());
    context.interruption().begin(run, lock, true);
    List<SubmitAnswer> answers =
        new SubmitTasks(scheduler, context.passing(), context.interruption())
            .submit(
                run,
                array,
                tasks,
                array.chain(),
                dependency,
                comment(),
                Optional.of(createdEvent(digests, Optional.empty())),
                () -> workspace.linkLatest(run.id()));
    context.interruption().end();
    RunState state = RunState.of(run.journal().read());
    RunOutcome outcome = record(context, run, state, Instant.now());
    List<String> keys = state.submissions().stream().map(Submission::key).toList();
    return new Submitted(
        run,
        tasks,
        estimate,
        clearance.total(),
        asks,
        notes,
        ownFiles,
        scheduler.name(),
        keys,
        answers,
        outcome);
  }

  /** Writes the run's first manifest. */
  private RunOutcome record(Context context, RunFolder run, RunState state, Instant now) {
    RunFacts facts = RunFacts.of(run, plan, estimate);
    RunOutcome outcome = RunOutcome.of(facts, state, List.of(), List.of(), Map.of(), now);
    new RunRecords(context.workspace(), context.passing())
        .write(run, facts, state, outcome, Set.of(), new ArrayList<>());
    return outcome;
  }

  private String comment() {
    Optional<Grant> grant = clearance.grant();
    return grant.isPresent() ? grant.get().approval().comment(estimate.configDigest()) : "";
  }

  private Event createdEvent(JsonObject digests, Optional<String> pipeline) {
    JsonObject data =
        new JsonObject()
            .with("user", UnixUser.me().user())
            .with("config", plan.config())
            .with("config_digest", estimate.configDigest())
            .with("sha256", digests)
            .withOptional("pipeline", pipeline)
            .withOptional(
                "after", after.isEmpty() ? Optional.empty() : Optional.of(Earlier.toJson(after)))
            .with(
                "reserved",
                new JsonObject()
                    .with("total", clearance.total().amount().toPlainString())
                    .with("currency", clearance.total().currency()));
    Optional<Grant> grant = clearance.grant();
    if (grant.isPresent()) {
      data.with("approval_id", grant.get().approval().id())
          .with("approver", grant.get().approval().approver());
    }
    return Event.now(Event.Type.CREATED, data);
  }
}
