package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.job.config.PipelineConfig;
import dev.nexa.slurm.job.config.PipelineConfig.Condition;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.NodeProgram;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.pipeline.plan.PipelinePlan.PlannedStage;
import dev.nexa.slurm.pipeline.run.StageReuse.Choice;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.Clearance;
import dev.nexa.slurm.run.decision.ClearanceOfAll;
import dev.nexa.slurm.run.reconcile.EarlierJobs;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.start.NewRun;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import dev.nexa.slurm.run.submit.ArrayShape;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.SubmitTasks;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Implements {@code pipeline run}: turns planned stages into runs that wait for each other.
 *
 * <p>First the files of all runs are written, then pipeline.json, then the stages are submitted in
 * order. If this process dies before pipeline.json is there, nothing is submitted. If it dies
 * later, a pass of reconcile submits the stages that are left.
 */
public final class SubmitPipeline {
  private final Context context;

  public SubmitPipeline(Context context) {
    this.context = context;
  }

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

  /** A pipeline that is planned and rendered, with the stages that take part in it. */
  public static final class Chosen {
    private final PipelinePlan plan;
    private final List<Rendered> all;
    private final Map<String, Choice> choices;

    private Chosen(PipelinePlan plan, List<Rendered> all, Map<String, Choice> choices) {
      this.plan = plan;
      this.all = all;
      this.choices = choices;
    }

    /** Returns for each stage why it runs or is reused; empty if nothing was to be reused. */
    public List<String> lines() {
      List<String> lines = new ArrayList<>();
      choices.forEach(
          (stage, choice) -> {
            if (!choice.why().isEmpty()) {
              lines.add(
                  stage + (choice.run().isPresent() ? " is reused: " : " runs: ") + choice.why());
            }
          });
      return lines;
    }

    /** Returns the plan of the stages that run; empty if all are reused. */
    public Optional<PipelinePlan> planToRun() {
      List<PlannedStage> stages = rendered().stream().map(Rendered::planned).toList();
      return stages.isEmpty()
          ? Optional.empty()
          : Optional.of(new PipelinePlan(plan.config(), stages, plan.policy()));
    }

    private List<Rendered> rendered() {
      return all.stream()
          .filter(one -> Objects.requireNonNull(choices.get(one.name())).run().isEmpty())
          .toList();
    }
  }

  /**
   * Renders the stages, and decides which of them are reused.
   *
   * @param reuse whether stages that have completed in an earlier pipeline are not run again
   * @param startAt the stage from which on all stages run; those before it must be reusable
   */
  public Chosen choose(PipelinePlan plan, boolean reuse, Optional<String> startAt) {
    List<Rendered> all = plan.stages().stream().map(this::render).toList();
    StageReuse.Wish wish = new StageReuse.Wish(reuse, startAt);
    StageReuse earlier = new StageReuse(context.workspace(), plan.config().name());
    if (wish.some()) {
      // What has ended in the scheduler may not be final in the records yet.
      new ReconcileRuns(context).reconcile(earlier.open());
    }
    List<StageReuse.Candidate> candidates = all.stream().map(one -> candidate(one, all)).toList();
    return new Chosen(plan, all, earlier.choose(candidates, wish));
  }

  private static StageReuse.Candidate candidate(Rendered one, List<Rendered> all) {
    String stage = PipelineConfig.Stage.variable(one.name());
    String written = "${stages." + one.name() + ".output}";
    boolean used = false;
    for (Rendered other : all) {
      used |= other.script().text().contains(stage + "_output");
      for (RunnerFile file : other.script().files()) {
        String text = new String(file.content(), StandardCharsets.UTF_8);
        used |= text.contains(stage + "_output") || text.contains(written);
      }
    }
    Plan plan = one.planned().prepared().plan();
    return new StageReuse.Candidate(
        one.planned().stage(),
        one.plan(),
        one.estimate().configDigest(),
        one.script().digest(),
        used ? Optional.of(Path.of(plan.storage().durable(), plan.outputs())) : Optional.empty());
  }

  /**
   * Submits a pipeline.
   *
   * @param chosen what {@link #choose} returned; at least one stage runs
   * @param approval the approval's file; if empty, it is searched in the policy's folder
   * @param begun receives the pipeline's id as soon as the pipeline exists, before the first sbatch
   * @throws dev.nexa.slurm.base.error.NexaException if an approval is missing or a file cannot be
   *     written
   */
  public SubmittedPipeline submit(
      Chosen chosen, Optional<String> approval, Consumer<String> begun) {
    PipelinePlan plan = chosen.plan;
    List<Rendered> all = chosen.all;
    Map<String, Choice> choices = chosen.choices;
    context.requireWorkspace(plan.scheduler());
    context.workspace().requirePathForLogs();
    Scheduler jobs = context.scheduler(plan.scheduler());
    List<Rendered> rendered = chosen.rendered();
    List<NewRun.Staged> staged = new ArrayList<>();
    try {
      PipelineFolder folder;
      PipelineFile file;
      List<String> notes;
      try (ClearanceOfAll clearance =
          ClearanceOfAll.of(
              context,
              plan.policy(),
              Proposal.below(context.root(), plan.config().file()),
              rendered.stream().map(Rendered::asked).toList(),
              approval)) {
        notes = clearance.notes();
        folder = context.workspace().claimPipeline(Instant.now());
        try {
          Optional<Grant> grant = clearance.grant();
          if (grant.isPresent()) {
            grant.get().hold(folder.path().toString());
          }
          stage(folder, all, choices, clearance, staged);
          file = document(folder, plan, all, choices, staged, clearance);
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

  /** A stage with its script and what an approver signs. */
  private record Rendered(
      PlannedStage planned,
      Script script,
      PlanFile plan,
      Proposal proposal,
      EstimateFile estimate) {
    String name() {
      return planned.stage().name();
    }

    ClearanceOfAll.Asked asked() {
      return new ClearanceOfAll.Asked(name(), proposal, plan, estimate);
    }
  }

  private Rendered render(PlannedStage planned) {
    Prepared prepared = planned.prepared();
    Script script =
        new Renderer(context.source(), prepared.plugin())
            .render(prepared.plan(), prepared.launch());
    PlanFile plan = SubmitRun.plan(prepared, script);
    Proposal proposal =
        Proposal.of(context.root(), plan, script, prepared.estimate(), UnixUser.me());
    return new Rendered(planned, script, plan, proposal, proposal.addTo(prepared.estimateFile()));
  }

  /** Claims a run for each stage and writes its files. Adds each to {@code staged} at once. */
  private void stage(
      PipelineFolder folder,
      List<Rendered> all,
      Map<String, Choice> choices,
      ClearanceOfAll clearance,
      List<NewRun.Staged> staged) {
    Map<String, RunFolder.Input> inputs = new LinkedHashMap<>();
    for (Rendered one : all) {
      Optional<RunId> reused = Objects.requireNonNull(choices.get(one.name())).run();
      if (reused.isPresent()) {
        inputs.put(one.name(), input(one.planned(), reused.get()));
        continue;
      }
      Clearance own = clearance.of(staged.size());
      List<RunFolder.Input> ofStage = new ArrayList<>();
      List<Earlier> after = new ArrayList<>();
      one.planned()
          .stage()
          .after()
          .forEach(
              (stage, condition) -> {
                RunFolder.Input input = Objects.requireNonNull(inputs.get(stage));
                ofStage.add(input);
                after.add(new Earlier(condition.text(), input.run().value(), Optional.of(stage)));
              });
      NewRun run =
          new NewRun(
              one.script(),
              one.plan().tagged("pipeline:" + folder.id()),
              own.addTo(one.estimate()),
              own,
              List.of(),
              List.of(),
              after,
              "",
              one.planned().prepared().plan().code(),
              one.planned().prepared().plan().program().map(NodeProgram::files).orElse(List.of()));
      NewRun.Staged made = run.stage(context, folder.id(), ofStage);
      staged.add(made);
      inputs.put(one.name(), input(one.planned(), made.run().id()));
    }
  }

  private static RunFolder.Input input(PlannedStage planned, RunId run) {
    Plan plan = planned.prepared().plan();
    String durable = plan.storage().durable();
    return new RunFolder.Input(
        planned.stage().name(),
        run,
        durable + "/" + plan.outputs() + "/" + run,
        durable + "/checkpoints/" + run,
        plan.tasks());
  }

  private static PipelineFile document(
      PipelineFolder folder,
      PipelinePlan plan,
      List<Rendered> all,
      Map<String, Choice> choices,
      List<NewRun.Staged> staged,
      ClearanceOfAll clearance) {
    List<PipelineFile.Stage> stages = new ArrayList<>();
    int made = 0;
    for (Rendered one : all) {
      Map<String, String> after = new LinkedHashMap<>();
      for (Map.Entry<String, Condition> earlier : one.planned().stage().after().entrySet()) {
        after.put(earlier.getKey(), earlier.getValue().text());
      }
      Optional<RunId> reused = Objects.requireNonNull(choices.get(one.name())).run();
      stages.add(
          new PipelineFile.Stage(
              one.name(),
              one.planned().stage().config(),
              reused.isPresent() ? reused.get() : staged.get(made).run().id(),
              after,
              one.planned().prepared().plan().tasks(),
              reused.isPresent() ? new BigDecimal("0.00") : clearance.of(made).total().amount(),
              one.estimate().configDigest(),
              one.script().digest(),
              reused.isPresent()));
      made += reused.isPresent() ? 0 : 1;
    }
    return new PipelineFile(
        folder.id(),
        plan.config().name(),
        plan.config().file(),
        UnixUser.me().user(),
        Instant.now(),
        plan.scheduler(),
        stages,
        clearance.total(),
        clearance.grant().map(grant -> grant.approval().id()));
  }

  /** Submits the stages in order, and stops where the scheduler does not take one. */
  private List<SubmittedStage> submit(
      Scheduler scheduler, List<Rendered> rendered, List<NewRun.Staged> staged) {
    // The earlier stages were submitted a moment ago, so slurmctld has not forgotten them.
    EarlierJobs jobs =
        new EarlierJobs(context.workspace(), scheduler, Optional.of(TaskEvidence.notAsked()));
    SubmitTasks submit = new SubmitTasks(scheduler, context.passing());
    List<SubmittedStage> stages = new ArrayList<>();
    boolean goesOn = true;
    for (int i = 0; i < staged.size(); i++) {
      NewRun.Staged one = staged.get(i);
      List<SubmitAnswer> answers = List.of();
      RunState state = RunState.of(one.run().journal().read());
      if (goesOn && jobs.of(state.after()) instanceof EarlierJobs.Waits waits) {
        ArrayShape array = ArrayShape.of(one.of().plan());
        answers =
            submit.submit(
                one.run(),
                array,
                IndexRange.upTo(array.tasks()),
                array.chain(),
                waits.dependency(),
                ProvenFiles.of(one.run()).comment(),
                Optional.empty());
        goesOn = answers.get(answers.size() - 1) instanceof SubmitAnswer.Submitted;
        context.workspace().linkLatest(one.run().id());
      }
      one.writeManifest(context);
      one.close();
      stages.add(new SubmittedStage(rendered.get(i).name(), one.run(), answers));
    }
    return stages;
  }
}
