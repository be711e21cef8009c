package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.job.estimate.EstimateFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code estimates/<digest>.json} of a pipeline: the estimates of all its stages, as an approver
 * reads them.
 *
 * @param json the document
 */
public record PipelineEstimateFile(JsonObject json) {
  private static final int NEWEST = 1;
  private static final String KIND = "kind";
  private static final String PIPELINE = "pipeline";

  /** One stage with its estimate. */
  public record Stage(String name, EstimateFile estimate) {}

  /**
   * Makes the document.
   *
   * @param estimates the estimates of the stages, in their order
   */
  public static PipelineEstimateFile of(PipelineProposal proposal, List<EstimateFile> estimates) {
    List<JsonObject> stages = new ArrayList<>();
    for (int i = 0; i < estimates.size(); i++) {
      stages.add(
          new JsonObject()
              .with("stage", proposal.stages().get(i).name())
              .with("estimate", estimates.get(i).json()));
    }
    return new PipelineEstimateFile(
        new JsonObject()
            .with(SchemaVersion.KEY, NEWEST)
            .with(KIND, PIPELINE)
            .with("config", proposal.config())
            .with("config_digest", proposal.digest())
            .with("total", proposal.total().amount().toPlainString())
            .with("currency", proposal.total().currency())
            .with("stages", stages));
  }

  /**
   * Reads a stored document.
   *
   * @param file its name for messages
   * @return empty if the text is the estimate of one run
   */
  public static Optional<PipelineEstimateFile> parse(String text, String file) {
    JsonObject json = SchemaVersion.parse(text, file, NEWEST);
    return json.optionalText(KIND).equals(Optional.of(PIPELINE))
        ? Optional.of(new PipelineEstimateFile(json))
        : Optional.empty();
  }

  /** Returns the pipeline's path for people. */
  public String config() {
    return json.text("config");
  }

  /** Returns the digest of the pipeline. */
  public String digest() {
    return json.text("config_digest");
  }

  /**
   * Returns the stages.
   *
   * @throws IllegalArgumentException if the document is not whole
   */
  public List<Stage> stages() {
    return json.objects("stages").stream().map(PipelineEstimateFile::stage).toList();
  }

  private static Stage stage(JsonObject json) {
    String name = json.text("stage");
    return new Stage(name, EstimateFile.parse(json.object("estimate").toString(), name));
  }
}
