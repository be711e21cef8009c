package dev.nexa.slurm.records.approvals;

import static dev.nexa.slurm.base.error.Arguments.require;

import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.units.Money;
import java.util.List;
import java.util.Optional;

/**
 * The content of an approval for all stages of a pipeline.
 *
 * @param config the pipeline's path, as the approver saw it
 * @param digest the digest of {@link PipelineProposal}, 64 hex digits
 * @param stages what may run, in order
 */
public record ApprovedPipeline(
    String config, @Key("config_digest") String digest, List<Stage> stages)
    implements Approval.Scope {

  /** One stage, described as an approval of this run alone would describe it. */
  public record Stage(@Key("stage") String name, ApprovedRun run) {}

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if there is no stage, or if the digest has another form
   */
  public ApprovedPipeline {
    stages = List.copyOf(stages);
    require(!stages.isEmpty(), "expected at least one stage");
    ApprovedRun.requireDigest(digest);
  }

  /** Returns the most that all stages could cost when they were approved. */
  public Money reservation() {
    return stages.stream()
        .map(stage -> stage.run().reservation())
        .reduce(Money::plus)
        .orElseThrow();
  }

  /** Returns the stage with this plan; empty if there is none. */
  public Optional<ApprovedRun> ofPlan(String planDigest) {
    return stages.stream()
        .map(Stage::run)
        .filter(run -> run.configDigest().equals(planDigest))
        .findFirst();
  }

  @Override
  public Optional<UnixUser> submitter() {
    return stages.get(0).run().submitter();
  }
}
