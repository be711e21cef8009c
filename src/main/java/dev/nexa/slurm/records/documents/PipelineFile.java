package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunId;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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
    String id,
    String name,
    String file,
    String user,
    Instant created,
    String scheduler,
    List<Stage> stages,
    Money total,
    Optional<String> approval) {
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
      String name,
      String config,
      RunId run,
      Map<String, String> after,
      int tasks,
      BigDecimal total,
      String planDigest,
      String scriptDigest,
      boolean reused) {

    private JsonObject toJson() {
      JsonObject waits = new JsonObject();
      after.forEach(waits::with);
      return new JsonObject()
          .with("stage", name)
          .with("config", config)
          .with("run_id", run.value())
          .with("after", waits)
          .with("tasks", tasks)
          .with("total", total.toPlainString())
          .with("config_digest", planDigest)
          .with("script_digest", scriptDigest)
          .withOptional("reused", reused ? Optional.of(true) : Optional.empty());
    }

    private static Stage fromJson(JsonObject json) {
      Map<String, String> after = new LinkedHashMap<>();
      JsonObject waits = json.object("after");
      waits.members().keySet().forEach(stage -> after.put(stage, waits.text(stage)));
      return new Stage(
          json.text("stage"),
          json.text("config"),
          new RunId(json.text("run_id")),
          after,
          Math.toIntExact(json.number("tasks")),
          new BigDecimal(json.text("total")),
          json.text("config_digest"),
          json.text("script_digest"),
          json.members().containsKey("reused"));
    }
  }

  /** Reads a pipeline's document. */
  public static PipelineFile read(PipelineFolder pipeline) {
    String name = pipeline.document().toString();
    JsonObject json = SchemaVersion.parse(DurableFiles.read(pipeline.document()), name, NEWEST);
    List<Stage> stages = new ArrayList<>();
    json.objects("stages").forEach(stage -> stages.add(Stage.fromJson(stage)));
    return new PipelineFile(
        json.text("pipeline_id"),
        json.text("name"),
        json.text("file"),
        // The text is what its maker wrote; the folder's owner is who its maker is.
        pipeline.isOfAnotherUser() ? pipeline.owner() : json.text("user"),
        json.instant("created"),
        json.text("scheduler"),
        List.copyOf(stages),
        new Money(new BigDecimal(json.text("total")), json.text("currency")),
        json.optionalText("approval_id"));
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
    return Json.pretty(
        new JsonObject()
            .with(SchemaVersion.KEY, NEWEST)
            .with("pipeline_id", id)
            .with("name", name)
            .with("file", file)
            .with("user", user)
            .with("created", created)
            .with("scheduler", scheduler)
            .with("stages", stages.stream().map(Stage::toJson).toList())
            .with("total", total.amount().toPlainString())
            .with("currency", total.currency())
            .withOptional("approval_id", approval));
  }
}
