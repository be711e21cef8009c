package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.run.status.RunRow;
import java.util.ArrayList;
import java.util.List;

/** The pipeline's manifest, which {@code pipeline status --json} prints too. */
public final class ProgressFile {
  private ProgressFile() {}

  /** Returns the document. */
  public static JsonObject of(PipelineProgress progress) {
    PipelineFile file = progress.file();
    List<JsonObject> stages = new ArrayList<>();
    progress.stages().forEach(stage -> stages.add(stage(stage)));
    return new JsonObject()
        .with("schema_version", 1)
        .with("pipeline_id", file.id())
        .with("name", file.name())
        .with("file", file.file())
        .with("user", file.user())
        .with("created", file.created())
        .with("scheduler", file.scheduler())
        .with("state", progress.state().text())
        .with("cost", progress.cost().amount().toPlainString())
        .with("total", file.total().amount().toPlainString())
        .with("currency", file.currency())
        .withOptional("approval_id", file.approval())
        .with("stages", stages);
  }

  private static JsonObject stage(PipelineProgress.StageProgress one) {
    PipelineFile.Stage stage = one.stage();
    JsonObject after = new JsonObject();
    stage.after().forEach(after::with);
    JsonObject json =
        new JsonObject()
            .with("stage", stage.name())
            .with("config", stage.config())
            .with("run_id", stage.run().value())
            .with("after", after)
            .with("state", one.state())
            .with("why", one.why().isEmpty() ? null : one.why())
            .with("cost", one.cost().toPlainString())
            .withOptional("cost_lacks", one.costLacks())
            .with("total", stage.total().amount().toPlainString())
            .with("config_digest", stage.planDigest())
            .with("script_digest", stage.scriptDigest())
            .with("tasks", stage.tasks());
    if (one.row().isPresent()) {
      RunRow row = one.row().get();
      json.with("tasks_done", row.tasks().done())
          .with("tasks_failed", row.tasks().failed())
          .with("tasks_running", row.tasks().running());
    }
    return json;
  }
}
