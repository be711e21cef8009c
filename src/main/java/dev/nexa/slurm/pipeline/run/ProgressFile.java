package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.TaskCounts;
import java.util.Optional;

/** The pipeline's manifest, which {@code pipeline status --json} prints too. */
public final class ProgressFile {
  private ProgressFile() {}

  /** Returns the document. */
  public static JsonObject of(PipelineProgress progress) {
    PipelineFile file = progress.file();
    return JsonObject.ofVersion(1)
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
        .with("stages", progress.stages().stream().map(ProgressFile::stage).toList());
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
    Optional<TaskCounts> tasks = one.row().map(RunRow::tasks);
    return json.withOptional("tasks_done", tasks.map(TaskCounts::done))
        .withOptional("tasks_failed", tasks.map(TaskCounts::failed))
        .withOptional("tasks_running", tasks.map(TaskCounts::running));
  }
}
