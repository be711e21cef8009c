package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.ClientEnvironment;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCommands;
import dev.nexa.slurm.job.plan.JobShape;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.Asked;
import dev.nexa.slurm.run.decision.Clearance;
import dev.nexa.slurm.run.decision.RequireGate;
import dev.nexa.slurm.run.submit.ArrayShape;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Implements {@code render} and {@code submit --dry-run}: returns the exact script and the
 * arguments of sbatch, and submits nothing.
 */
public record RenderRun(Context context) {
  /**
   * The rendered run.
   *
   * @param argv sbatch's arguments, with a placeholder run id and key in their usual form
   * @param submissions how many sbatch calls a submit makes; a large array needs several
   * @param refusal why submit would refuse the run now; empty if it would not, and for {@code
   *     render}, which does not ask
   */
  public record Rendered(
      Prepared prepared,
      Script script,
      List<String> argv,
      int submissions,
      Optional<String> refusal) {}

  /** Renders a run. Asks no scheduler for jobs, so sbatch's arguments have no dependency. */
  public Rendered render(Prepared.Request request) {
    Prepared prepared = Prepared.of(context, request);
    return describe(prepared, script(prepared), "", Optional.empty());
  }

  /**
   * Renders a run as {@code submit} would submit it. Says whether a missing approval or a budget
   * would stop it. Checks the plan against Slurm's partitions, as {@code estimate} does.
   *
   * @param after the value of {@code --dependency}, as {@link Dependencies} reads it
   * @param approval the approval's file; if empty, it is searched in the places that the policy
   *     names
   * @throws dev.nexa.slurm.base.error.NexaException if the policy asks for a gate and none is among
   *     the runs that this run waits for, or if these runs can never be met
   */
  public Rendered forSubmit(
      Prepared.Request request, Optional<String> after, Optional<String> approval) {
    Prepared prepared = Prepared.of(context, request);
    RequirePartition.of(context, prepared);
    Script script = script(prepared);
    List<Earlier> earlier = Dependencies.of(context, prepared.inputs(), after);
    PlanFile plan = SubmitRun.plan(prepared, script);
    new RequireGate(context, prepared.policy()).of(plan, earlier);
    Proposal proposal =
        Proposal.of(context.root(), plan, script, prepared.estimate(), UnixUser.me());
    Optional<String> refusal =
        Clearance.refusal(
            context,
            prepared.policy(),
            Asked.ofRun(proposal, plan, proposal.addTo(prepared.estimateFile())),
            approval);
    return describe(
        prepared,
        script,
        earlier.isEmpty()
            ? ""
            : Dependencies.onJobs(
                context, prepared.plan().site().scheduler(), prepared.inputs(), earlier),
        refusal);
  }

  private Script script(Prepared prepared) {
    return new Renderer(context.source(), prepared.plugin())
        .render(prepared.plan(), prepared.launch());
  }

  private Rendered describe(
      Prepared prepared, Script script, String dependency, Optional<String> refusal) {
    String runId = new RunId(prepared.plan().stage() + "_20000101_000000").value();
    Path run = context.workspace().runs().toAbsolutePath().normalize().resolve(runId);
    String key = runId + ".xxxxxx";
    Plan plan = prepared.plan();
    JobShape shape = plan.shape();
    ArrayShape array =
        new ArrayShape(
            shape.tasks(),
            plan.site().maxArraySize(),
            shape.array().maxParallel(),
            shape.array().chain());
    List<ArrayShape.Part> parts = array.parts(IndexRange.upTo(array.tasks()));
    SubmitRequest call =
        new SubmitRequest(
            key,
            run.resolve("job.sbatch"),
            run.resolve("submissions").resolve(key),
            RunFolder.logPattern(run.resolve("logs"), script.text()),
            "",
            run,
            parts.get(0).array(),
            dependency,
            "");
    return new Rendered(
        prepared,
        script,
        SlurmCommands.sbatch(call, ClientEnvironment.forClients(context.environment())),
        parts.size() * array.chain(),
        refusal);
  }
}
