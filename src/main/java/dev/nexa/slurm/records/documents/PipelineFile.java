package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.IfAny;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * {@code pipeline.json}: the stages of a submitted pipeline and their runs. It never changes.
 *
 * @param id the pipeline's id
 * @param name the pipeline's name
 * @param file the file that it was made from
 * @param user the login name of the submitter
 * @param scheduler {@code slurm} or {@code local}
 * @param stages the stages; each stands after the stages that it waits for
 * @param total the most that all stages can cost
 * @param approval the id of the approval; empty if none was needed
 */
public record PipelineFile(
    @Key("pipeline_id") String id,
    String name,
    String file,
    String user,
    Instant created,
    String scheduler,
    List<Stage> stages,
    Money total,
    String currency,
    @Key("approval_id") Optional<String> approval) {
  private static final int NEWEST = 1;

  /**
   * One stage and its run.
   *
   * @param after the earlier stages and sbatch's words, such as {@code afterok}
   * @param tasks the number of tasks
   * @param total the most that the stage can cost
   * @param planDigest SHA-256 of its plan
   * @param scriptDigest SHA-256 over its script and the files beside it
   * @param reused whether the run is of an earlier pipeline; {@code total} is then zero
   */
  public record Stage(
      @Key("stage") String name,
      String config,
      @Key("run_id") RunId run,
      Map<String, String> after,
      int tasks,
      Money total,
      @Key("config_digest") String planDigest,
      String scriptDigest,
      @IfAny boolean reused) {}

  /** Reads a pipeline's document. */
  public static PipelineFile read(PipelineFolder pipeline) {
    String name = pipeline.document().toString();
    JsonObject json = SchemaVersion.parse(DurableFiles.read(pipeline.document()), name, NEWEST);
    if (pipeline.isOfAnotherUser()) {
      // The maker can write any user into the text; the folder's owner is the real maker.
      json.with("user", pipeline.owner());
    }
    return Codec.read(json, PipelineFile.class);
  }

  /** Returns the runs that this pipeline made, in order. Reused runs belong to other pipelines. */
  public List<RunId> ownRuns() {
    return stages.stream().filter(stage -> !stage.reused()).map(Stage::run).toList();
  }

  /** Returns the stage with this name; empty if there is none. */
  public Optional<Stage> stage(String stage) {
    return stages.stream().filter(one -> one.name().equals(stage)).findFirst();
  }

  /** Returns the document's text. */
  public String text() {
    return Json.pretty(Codec.write(this, JsonObject.ofVersion(NEWEST)));
  }
}
