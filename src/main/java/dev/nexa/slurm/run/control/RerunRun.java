package dev.nexa.slurm.run.control;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunInput;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.Asked;
import dev.nexa.slurm.run.decision.Clearance;
import dev.nexa.slurm.run.decision.RequireGate;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.start.NewRun;
import dev.nexa.slurm.run.start.Submitted;
import dev.nexa.slurm.run.submit.ArrayShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Implements {@code rerun RUN}: submits a finished run's stored script, unchanged, as a new run.
 *
 * <p>Today's prices, policy, budgets and approvals apply, as for a submit.
 */
public record RerunRun(Context context) {
  /**
   * Submits the whole run again, under a new run id.
   *
   * @param approval the approval's file; if empty, it is searched in the policy's folder
   */
  public Submitted rerun(RunFolder old, Optional<String> approval) {
    ProvenFiles files = RerunTasks.requireProven(old, old.journal().read());
    PlanFile plan = files.plan();
    Script script = files.script();
    ArrayShape array = ArrayShape.of(plan);
    String digest = files.estimate().configDigest();
    Estimate estimate = RerunTasks.today(context, plan, digest, array.tasks(), array.chain());
    Proposal proposal = Proposal.of(context.root(), plan, script, estimate, UnixUser.me());
    Policy policy = context.configs().policy();
    if (plan.requeues() > policy.repeats().maxRequeues()) {
      throw ErrorCode.RERUN_IMPOSSIBLE.error(
          "%s has requeues: %s, and the policy allows at most %s (%s)"
              .formatted(old.id(), plan.requeues(), policy.repeats().maxRequeues(), policy.name()),
          "submit its config with fewer requeues");
    }
    RunState was = RunState.of(old.journal().read());
    new RequireGate(context, policy).of(plan, was.after());
    new RequireNoHalt(context, policy).require(plan, was.pipeline());
    List<RunInput> inputs = old.inputs();
    Set<RunId> read = inputs.stream().map(RunInput::run).collect(Collectors.toSet());
    // The other dependencies were met when the run ran first.
    List<Earlier> after =
        was.after().stream().filter(one -> one.run().filter(read::contains).isPresent()).toList();
    String dependency =
        after.isEmpty()
            ? ""
            : RerunTasks.dependency(
                context, old, was.pipeline(), after, context.scheduler(plan.scheduler()));
    Asked asked = Asked.ofRun(proposal, plan, proposal.addTo(EstimateFile.of(estimate, true)));
    try (Clearance clearance = Clearance.of(context, policy, asked, approval)) {
      List<String> notes = new ArrayList<>(List.of("the stored script of " + old.id()));
      was.pipeline().ifPresent(pipeline -> notes.add(unread(old, pipeline, array.tasks())));
      notes.addAll(clearance.notes());
      return new NewRun(
              script,
              plan.rerunOf(old.id().value()),
              clearance.addTo(proposal.addTo(EstimateFile.of(clearance.estimate(), false))),
              clearance,
              "",
              notes,
              List.of(),
              after,
              dependency,
              inputs,
              Optional.empty(),
              List.of())
          .submit(context);
    }
  }

  private static String unread(RunFolder stage, String pipeline, int tasks) {
    return "no stage of %s reads this new run; `nexa-slurm rerun --tasks %s %s` runs the stage again in its place"
        .formatted(pipeline, tasks == 1 ? "0" : "0-" + (tasks - 1), stage.id());
  }
}
