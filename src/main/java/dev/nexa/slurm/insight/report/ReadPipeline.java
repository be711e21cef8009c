package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads a pipeline's page from its document and from its manifest, which the last pass wrote. */
final class ReadPipeline {
  private ReadPipeline() {}

  static PipelineDetail read(PipelineFolder folder) {
    PipelineFile file = PipelineFile.read(folder);
    JsonObject manifest =
        Files.exists(folder.manifest())
            ? Json.parseObject(DurableFiles.read(folder.manifest()))
            : new JsonObject();
    Map<String, JsonObject> states = new HashMap<>();
    if (manifest.members().containsKey("stages")) {
      manifest.objects("stages").forEach(stage -> states.put(stage.text("stage"), stage));
    }
    List<PipelineDetail.Stage> stages = new ArrayList<>();
    for (PipelineFile.Stage stage : file.stages()) {
      JsonObject now = states.getOrDefault(stage.name(), new JsonObject());
      stages.add(
          new PipelineDetail.Stage(
              stage.name(),
              stage.run().value(),
              stage.after(),
              now.optionalText("state").orElse("not passed yet"),
              now.optionalText("why").orElse(""),
              now.optionalText("cost").map(BigDecimal::new),
              stage.total(),
              stage.tasks()));
    }
    return new PipelineDetail(
        file.id(),
        file.name(),
        file.user(),
        file.created(),
        manifest.optionalText("state").orElse(""),
        manifest.optionalText("cost").map(BigDecimal::new),
        file.total().amount(),
        file.total().currency(),
        List.copyOf(stages));
  }
}
