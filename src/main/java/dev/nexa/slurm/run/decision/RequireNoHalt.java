package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.releases.Halts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Enforces halts: while one is in force, no run starts that brings a model to users. */
public final class RequireNoHalt {
  private static final String SERVE = "serve";

  private final Context context;
  private final Policy policy;
  private Optional<Signers> signers = Optional.empty();

  public RequireNoHalt(Context context, Policy policy) {
    this.context = context;
    this.policy = policy;
  }

  /** Returns whether runs of the stage bring a model to users, as far as the policy says it. */
  public static boolean concerns(Policy policy, String stage) {
    return stage.equals(SERVE) || policy.evaluation().gateBefore().contains(stage);
  }

  /** Returns the folder {@code deploy} on a durable tier. */
  public static Path deploy(String durable) {
    return Path.of(durable, "deploy");
  }

  /**
   * Returns the halts that stop a run, oldest first.
   *
   * @param durable the durable tier of the run's profile
   * @param pipeline the name of the run's pipeline; empty if it has none
   */
  public List<Halts.Judged> halts(String durable, Optional<String> pipeline) {
    Path deploy = deploy(durable);
    if (!Files.isDirectory(Halts.folder(deploy))) {
      return List.of();
    }
    if (signers.isEmpty() && policy.approvals().isPresent()) {
      signers = Optional.of(PolicyApprovals.of(context, policy).signers());
    }
    return new Halts(deploy, context.workspace().files()).inForce(signers, pipeline);
  }

  /**
   * Checks a run outside a pipeline, or one that runs again.
   *
   * @param pipeline the pipeline's id; empty for a run without one
   * @throws NexaException with {@link ErrorCode#HALTED} if a halt stops it
   */
  public void require(PlanFile plan, Optional<String> pipeline) {
    if (concerns(policy, plan.stage())) {
      require(plan.config(), plan, nameOf(context, pipeline));
    }
  }

  /**
   * Checks a run.
   *
   * @param what the config, or the pipeline and its stage, for the message
   * @param pipeline the name of the run's pipeline; empty if it has none
   * @throws NexaException with {@link ErrorCode#HALTED} if a halt stops it
   */
  public void require(String what, PlanFile plan, Optional<String> pipeline) {
    if (!concerns(policy, plan.stage())) {
      return;
    }
    List<Halts.Judged> halts = halts(plan.storage().durable(), pipeline);
    if (!halts.isEmpty()) {
      throw refusal(what + ": no run of stage " + plan.stage() + " may start", halts);
    }
  }

  /**
   * Returns the name of a pipeline.
   *
   * @param id the pipeline's id; empty for a run without one
   * @return empty also if the pipeline's document is gone
   */
  public static Optional<String> nameOf(Context context, Optional<String> id) {
    return id.map(context.workspace()::pipeline)
        .filter(PipelineFolder::exists)
        .map(folder -> PipelineFile.read(folder).name());
  }

  /**
   * Returns the error for an action that a halt stops.
   *
   * @param what the words that say what may not happen
   */
  public static NexaException refusal(String what, List<Halts.Judged> halts) {
    List<Advice> advice = new ArrayList<>();
    for (Halts.Judged one : halts.subList(1, halts.size())) {
      advice.add(Advice.step("halt " + one.halt().id() + ", " + one.words()));
    }
    Halts.Judged first = halts.get(0);
    advice.add(first.ends());
    return ErrorCode.HALTED.error(
        what + " while the halt " + first.halt().id() + " is in force, " + first.words(), advice);
  }
}
