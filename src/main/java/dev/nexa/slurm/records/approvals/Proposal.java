package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.render.Script;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A run that needs an approval.
 *
 * @param config the config's path for people; relative to the workspace if it is inside
 * @param stage the run's stage
 * @param tags the run's tags
 * @param whatRuns digests of script, options and files ({@link ApprovedContent#of})
 * @param limits the options that affect cost or rights ({@link ApprovedContent#limits})
 * @param estimate the estimate at today's rates
 * @param submitter the user who submits
 */
public record Proposal(
    String config,
    String stage,
    List<String> tags,
    JsonObject whatRuns,
    JsonObject limits,
    Estimate estimate,
    UnixUser submitter)
    implements Approvable {

  /**
   * Describes a planned and rendered run.
   *
   * @param plan the content of plan.json
   */
  public static Proposal of(
      Path workspace, PlanFile plan, Script script, Estimate estimate, UnixUser submitter) {
    JsonObject limits = ApprovedContent.limits(plan);
    return new Proposal(
        below(workspace, plan.config()),
        plan.stage(),
        plan.tags(),
        ApprovedContent.of(
            script, limits, estimate.configDigest(), plan.codeDigest(), plan.programDigest()),
        limits,
        estimate,
        submitter);
  }

  /**
   * Returns the normalized path, so that {@code ..} cannot leave the folder that an envelope
   * allows.
   */
  public static String below(Path workspace, String config) {
    if (config.startsWith("jar:")) {
      return config.substring("jar:".length());
    }
    Path root = workspace.toAbsolutePath().normalize();
    Path file = Path.of(config).toAbsolutePath().normalize();
    return (file.startsWith(root) ? root.relativize(file) : file).toString();
  }

  /** Adds the members that the approver signs to an estimate, and returns it. */
  public EstimateFile addTo(EstimateFile file) {
    return file.signed(config, tags, whatRuns, limits, submitter.toJson());
  }

  @Override
  public String digest() {
    return estimate.configDigest();
  }

  @Override
  public List<Proposal> runs() {
    return List.of(this);
  }

  @Override
  public Money total() {
    return estimate.total();
  }

  @Override
  public Proposal at(Approval.Scope scope) {
    Optional<ApprovedRun> run =
        scope instanceof ApprovedRun one
            ? Optional.of(one)
            : scope instanceof ApprovedPipeline pipeline
                ? pipeline.ofPlan(digest())
                : Optional.empty();
    return run.isPresent() ? at(estimate.at(Rates.fromJson(run.get().rates()))) : this;
  }

  /** Returns a copy with another estimate, at other rates. */
  public Proposal at(Estimate other) {
    return new Proposal(config, stage, tags, whatRuns, limits, other, submitter);
  }
}
