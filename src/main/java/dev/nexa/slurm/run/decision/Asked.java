package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.Approvable;
import dev.nexa.slurm.records.approvals.PipelineEstimateFile;
import dev.nexa.slurm.records.approvals.PipelineProposal;
import dev.nexa.slurm.records.approvals.Proposal;
import java.util.List;
import java.util.Optional;

/**
 * A request to start a run, all stages of a pipeline, or some tasks of a run again.
 *
 * @param proposal the run or the pipeline, as an approver signs it
 * @param plans the content of each run's plan.json; gets {@code charged_account}
 * @param document what an approver reads
 * @param warnings lines for the approver
 * @param rerun what a rerun must keep to; empty for new runs
 */
public record Asked(
    Approvable proposal,
    List<PlanFile> plans,
    JsonObject document,
    List<String> warnings,
    Optional<Rerun> rerun) {

  /**
   * A stage of a pipeline.
   *
   * @param estimate the estimate as an approver reads it
   */
  public record Stage(String name, Proposal proposal, PlanFile plan, EstimateFile estimate) {}

  /**
   * Asks for a new run.
   *
   * @param estimate the estimate as an approver reads it
   */
  public static Asked ofRun(Proposal proposal, PlanFile plan, EstimateFile estimate) {
    return new Asked(
        proposal, List.of(plan), estimate.json(), estimate.warnings(), Optional.empty());
  }

  /**
   * Asks for some tasks of a run again.
   *
   * @param part the proposal of these tasks
   * @param estimate the estimate of these tasks, as an approver reads it
   */
  public static Asked ofRerun(Proposal part, PlanFile plan, EstimateFile estimate, Rerun rerun) {
    return new Asked(part, List.of(plan), estimate.json(), estimate.warnings(), Optional.of(rerun));
  }

  /**
   * Asks for the stages of a pipeline together.
   *
   * @param config the pipeline's path for people
   * @param stages the stages, priced in one currency; at least one
   */
  public static Asked ofPipeline(String config, List<Stage> stages) {
    PipelineProposal proposal =
        PipelineProposal.of(
            config,
            stages.stream()
                .map(one -> new PipelineProposal.Stage(one.name(), one.proposal()))
                .toList());
    return new Asked(
        proposal,
        stages.stream().map(Stage::plan).toList(),
        PipelineEstimateFile.of(proposal, stages.stream().map(Stage::estimate).toList()).json(),
        stages.stream().flatMap(one -> one.estimate().warnings().stream()).toList(),
        Optional.empty());
  }
}
