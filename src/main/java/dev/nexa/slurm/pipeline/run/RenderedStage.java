package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.pipeline.plan.PipelinePlan.PlannedStage;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.Asked;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;

/**
 * A stage with its script and what an approver signs.
 *
 * @param plan the content of plan.json
 * @param estimate the estimate as an approver reads it
 */
record RenderedStage(
    PlannedStage planned, Script script, PlanFile plan, Proposal proposal, EstimateFile estimate) {

  /**
   * Renders a planned stage.
   *
   * @param shared the renderer of all stages whose backend is no plugin
   */
  static RenderedStage of(Context context, Renderer shared, PlannedStage planned) {
    Prepared prepared = planned.prepared();
    Script script =
        (prepared.plugin().isEmpty() ? shared : new Renderer(context.source(), prepared.plugin()))
            .render(prepared.plan(), prepared.launch());
    PlanFile plan = SubmitRun.plan(prepared, script);
    Proposal proposal =
        Proposal.of(context.root(), plan, script, prepared.estimate(), UnixUser.me());
    return new RenderedStage(
        planned, script, plan, proposal, proposal.addTo(prepared.estimateFile()));
  }

  String name() {
    return planned.stage().name();
  }

  Asked.Stage asked() {
    return new Asked.Stage(name(), proposal, plan, estimate);
  }
}
