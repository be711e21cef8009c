package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.files.FileList;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.job.plan.NodeProgram;
import dev.nexa.slurm.job.plan.Payload;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.documents.RunFiles;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunInput;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.Asked;
import dev.nexa.slurm.run.decision.Clearance;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.reconcile.EarlierJobs;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.start.NewRun;
import dev.nexa.slurm.run.submit.ArrayShape;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.SubmitTasks;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * Implements {@code pipeline run}: turns planned stages into runs that wait for each other.
 *
 * <p>First the files of all runs are written, then pipeline.json, then the stages are submitted in
 * order. If this process dies before it has written pipeline.json, no stage is ever submitted. If
 * it dies later, a pass of reconcile submits the other stages.
 */
public record SubmitPipeline(Context context) {
  /**
   * A stage after its submit.
   *
   * @param answers the scheduler's answers; empty if the stage was not submitted yet
   */
  public record SubmittedStage(String stage, RunFolder run, List<SubmitAnswer> answers) {}

  /**
   * A submitted pipeline.
   *
   * @param notes lines for the user
   */
  public record SubmittedPipeline(
      PipelineFolder folder, PipelineFile file, List<SubmittedStage> stages, List<String> notes) {}

  /**
   * Submits a pipeline.
   *
   * @param chosen the stages; at least one of them runs
   * @param approval the approval's file; if empty, it is searched in the policy's folder
   * @param begun receives the pipeline's id as soon as the pipeline exists, before the first sbatch
   * @throws dev.nexa.slurm.base.error.NexaException if an approval is missing or a file cannot be
   *     written
   */
  public SubmittedPipeline submit(
      ChosenStages chosen, Optional<String> approval, Consumer<String> begun) {
    PipelinePlan plan = chosen.plan();
    context.requireWorkspace(plan.scheduler());
    context.workspace().requirePathForLogs();
    Scheduler jobs = context.schedulerToSubmit(plan.scheduler());
    List<RenderedStage> rendered = chosen.toRun();
    RequireNoHalt halts = new RequireNoHalt(context, plan.policy());
    for (RenderedStage stage : rendered) {
      halts.require(
          plan.config().file() + ": " + stage.name(),
          stage.plan(),
          Optional.of(plan.config().name()));
    }
    // Before the budgets are locked: a folder of many files takes a while.
    List<FileList> read =
        rendered.stream()
            .map(stage -> FileList.of(RunFiles.outside(stage.plan()), List.of()))
            .toList();
    List<NewRun.Staged> staged = new ArrayList<>();
    try {
      PipelineFolder folder;
      PipelineFile file;
      List<String> notes;
      try (Clearance clearance =
          Clearance.of(
              context,
              plan.policy(),
              Asked.ofPipeline(
                  Proposal.below(context.root(), plan.config().file()),
                  rendered.stream().map(RenderedStage::asked).toList()),
              approval)) {
        notes = clearance.notes();
        folder = context.workspace().claimPipeline(Instant.now());
        try {
          clearance.grant().ifPresent(use -> use.hold(folder.path().toString()));
          stage(folder, chosen, clearance, staged);
          for (int i = 0; i < staged.size(); i++) {
            RunFiles.READ.keep(staged.get(i).run(), read.get(i));
          }
          file = document(folder, chosen, staged, clearance);
          context.passing().accept(CrashPoint.PIPELINE_STAGED);
          folder.commit(file.text());
        } catch (RuntimeException failed) {
          clearance.release();
          throw failed;
        }
      }
      context.passing().accept(CrashPoint.PIPELINE_WRITTEN);
      begun.accept(folder.id());
      return new SubmittedPipeline(folder, file, submit(jobs, rendered, staged), notes);
    } finally {
      staged.forEach(NewRun.Staged::close);
    }
  }

  /** Claims a run for each stage and writes its files. Adds each to {@code staged} at once. */
  private void stage(
      PipelineFolder folder, ChosenStages chosen, Clearance clearance, List<NewRun.Staged> staged) {
    Map<String, RunInput> inputs = new LinkedHashMap<>();
    for (RenderedStage one : chosen.all()) {
      Optional<RunId> reused = chosen.reused(one);
      if (reused.isPresent()) {
        inputs.put(one.name(), input(one, reused.get()));
        continue;
      }
      Clearance own = clearance.ofRun(staged.size());
      List<RunInput> ofStage = new ArrayList<>();
      List<Earlier> after = new ArrayList<>();
      one.planned()
          .stage()
          .after()
          .forEach(
              (stage, condition) -> {
                RunInput input = Objects.requireNonNull(inputs.get(stage));
                ofStage.add(input);
                after.add(new Earlier(condition.text(), input.run().value(), Optional.of(stage)));
              });
      Payload payload = one.planned().prepared().plan().payload();
      NewRun run =
          new NewRun(
              one.script(),
              one.plan().tagged("pipeline:" + folder.id()),
              own.addTo(one.estimate()),
              own,
              "",
              List.of(),
              List.of(),
              after,
              "",
              ofStage,
              payload.code(),
              payload.program().map(NodeProgram::files).orElse(List.of()));
      staged.add(run.stage(context, folder.id()));
      inputs.put(one.name(), input(one, staged.get(staged.size() - 1).run().id()));
    }
  }

  private static RunInput input(RenderedStage stage, RunId run) {
    return RunInput.of(stage.name(), run, stage.plan(), OptionalInt.empty());
  }

  private static PipelineFile document(
      PipelineFolder folder, ChosenStages chosen, List<NewRun.Staged> staged, Clearance clearance) {
    List<PipelineFile.Stage> stages = new ArrayList<>();
    int made = 0;
    for (RenderedStage one : chosen.all()) {
      Map<String, String> after = new LinkedHashMap<>();
      one.planned().stage().after().forEach((name, condition) -> after.put(name, condition.text()));
      Optional<RunId> reused = chosen.reused(one);
      stages.add(
          new PipelineFile.Stage(
              one.name(),
              one.planned().stage().config(),
              reused.isPresent() ? reused.get() : staged.get(made).run().id(),
              after,
              one.planned().prepared().plan().tasks(),
              reused.isPresent()
                  ? new Money(new BigDecimal("0.00"), clearance.total().currency())
                  : clearance.ofRun(made).total(),
              one.estimate().configDigest(),
              one.script().digest(),
              reused.isPresent()));
      made += reused.isPresent() ? 0 : 1;
    }
    return new PipelineFile(
        folder.id(),
        chosen.plan().config().name(),
        chosen.plan().config().file(),
        UnixUser.me().user(),
        Instant.now(),
        chosen.plan().scheduler(),
        stages,
        clearance.total(),
        clearance.total().currency(),
        clearance.grant().map(grant -> grant.approval().id()));
  }

  /** Submits the stages in order, and stops where the scheduler does not take one. */
  private List<SubmittedStage> submit(
      Scheduler scheduler, List<RenderedStage> rendered, List<NewRun.Staged> staged) {
    // The earlier stages were submitted a moment ago, so slurmctld has not forgotten them.
    EarlierJobs jobs =
        new EarlierJobs(context.workspace(), scheduler, Optional.of(TaskEvidence.notAsked()));
    SubmitTasks submit = new SubmitTasks(scheduler, context.passing(), context.interruption());
    List<SubmittedStage> stages = new ArrayList<>();
    boolean goesOn = true;
    for (int i = 0; i < staged.size(); i++) {
      NewRun.Staged one = staged.get(i);
      List<SubmitAnswer> answers = List.of();
      RunState state = RunState.of(one.run().journal().read());
      if (goesOn && jobs.of(state.after()) instanceof EarlierJobs.Waits waits) {
        ArrayShape array = ArrayShape.of(one.of().plan());
        context.interruption().begin(one.run(), one.lock(), false);
        answers =
            submit.submit(
                one.run(),
                array,
                IndexRange.upTo(array.tasks()),
                array.chain(),
                waits.dependency(),
                ProvenFiles.of(one.run()).comment(),
                Optional.empty(),
                () -> context.workspace().linkLatest(one.run().id()));
        context.interruption().end();
        goesOn = answers.get(answers.size() - 1) instanceof SubmitAnswer.Submitted;
      }
      one.writeManifest(context);
      one.close();
      stages.add(new SubmittedStage(rendered.get(i).name(), one.run(), answers));
    }
    return stages;
  }
}
