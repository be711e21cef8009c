package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.pipeline.plan.PipelinePlan.PlannedStage;
import dev.nexa.slurm.pipeline.run.StageReuse.Choice;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A pipeline's rendered stages, and which of them run.
 *
 * @param all all stages; each stands after the stages that it waits for
 */
public record ChosenStages(
    PipelinePlan plan, List<RenderedStage> all, Map<String, Choice> choices) {

  /**
   * Renders the stages, and decides which of them are reused.
   *
   * @param renderer the renderer of the stages; called after the stages were planned
   * @param reuse whether stages that have completed in an earlier pipeline are not run again
   * @param startAt the stage to start at: this stage and all stages after it run, and the other
   *     stages must be reusable
   * @throws dev.nexa.slurm.base.error.NexaException if there is no stage to start at, or if a stage
   *     before it cannot be reused
   */
  public static ChosenStages of(
      Context context,
      PipelinePlan plan,
      Supplier<Renderer> renderer,
      boolean reuse,
      Optional<String> startAt) {
    Renderer shared = renderer.get();
    List<RenderedStage> all =
        plan.stages().stream().map(stage -> RenderedStage.of(context, shared, stage)).toList();
    StageReuse.Wish wish = new StageReuse.Wish(reuse, startAt);
    StageReuse earlier = new StageReuse(context.workspace(), plan.config().name());
    if (wish.some()) {
      // The records of a run may not be final yet, although the run has ended in the scheduler.
      new ReconcileRuns(context).reconcile(earlier.open());
    }
    List<StageReuse.Candidate> candidates =
        all.stream()
            .map(
                one ->
                    new StageReuse.Candidate(
                        one.planned().stage(),
                        one.plan(),
                        one.estimate().configDigest(),
                        one.script().digest(),
                        isUsed(one.name(), all)))
            .toList();
    return new ChosenStages(plan, all, earlier.choose(candidates, wish));
  }

  /** Returns whether a script or a file beside it names the stage's checkpoint. */
  private static boolean isUsed(String stage, List<RenderedStage> all) {
    String variable = PipelineConfig.Stage.variable(stage) + "_checkpoint";
    String reference = "${stages." + stage + ".checkpoint}";
    Stream<String> files =
        all.stream()
            .flatMap(other -> other.script().files().stream())
            .map(file -> new String(file.content(), StandardCharsets.UTF_8));
    return Stream.concat(all.stream().map(other -> other.script().text()), files)
        .anyMatch(text -> text.contains(variable) || text.contains(reference));
  }

  /** Returns the run that takes a stage's place; empty if the stage runs. */
  Optional<RunId> reused(RenderedStage stage) {
    return Objects.requireNonNull(choices.get(stage.name())).run();
  }

  /** Returns the stages that run, in order. */
  List<RenderedStage> toRun() {
    return all.stream().filter(one -> reused(one).isEmpty()).toList();
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
    List<PlannedStage> stages = toRun().stream().map(RenderedStage::planned).toList();
    return stages.isEmpty()
        ? Optional.empty()
        : Optional.of(new PipelinePlan(plan.config(), stages, plan.policy()));
  }
}
