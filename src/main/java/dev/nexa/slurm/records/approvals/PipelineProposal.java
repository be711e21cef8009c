package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import java.util.List;

/**
 * All stages of a pipeline, which need one approval.
 *
 * @param config the pipeline's path for people
 * @param digest the digest over the names and digests of the stages
 * @param stages the stages, in order; at least one
 */
public record PipelineProposal(String config, String digest, List<Stage> stages)
    implements Approvable {

  /** One stage. */
  public record Stage(String name, Proposal proposal) {}

  /** Describes stages that are priced in one currency. */
  public static PipelineProposal of(String config, List<Stage> stages) {
    return new PipelineProposal(config, digest(stages), List.copyOf(stages));
  }

  private static String digest(List<Stage> stages) {
    JsonObject digests = new JsonObject();
    stages.forEach(stage -> digests.with(stage.name(), stage.proposal().digest()));
    return Sha256.of(new JsonObject().with("stages", digests).toString());
  }

  @Override
  public UnixUser submitter() {
    return stages.get(0).proposal().submitter();
  }

  @Override
  public Money total() {
    return totals().stream().reduce(Money::plus).orElseThrow();
  }

  @Override
  public List<Proposal> runs() {
    return stages.stream().map(Stage::proposal).toList();
  }

  @Override
  public PipelineProposal at(Approval.Scope scope) {
    List<Stage> pinned =
        stages.stream().map(stage -> new Stage(stage.name(), stage.proposal().at(scope))).toList();
    return new PipelineProposal(config, digest, pinned);
  }
}
