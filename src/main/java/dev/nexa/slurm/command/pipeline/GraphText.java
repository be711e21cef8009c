package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.job.config.PipelineConfig;
import dev.nexa.slurm.job.config.PipelineConfig.Condition;
import dev.nexa.slurm.job.config.PipelineConfig.Stage;
import java.util.HashMap;
import java.util.Map;

/** Draws the stages of a pipeline and what each waits for. */
final class GraphText {
  private static final Columns<Stage> COLUMNS =
      new Columns<Stage>()
          .text("stage", Stage::name)
          .text("after", PipelineText::after)
          .text("config", Stage::config);

  private GraphText() {}

  static String table(PipelineConfig pipeline) {
    return COLUMNS.of(pipeline.stages()).table();
  }

  /** Returns a flowchart in Mermaid's language. An arrow without a word is {@code afterok}. */
  static String mermaid(PipelineConfig pipeline) {
    StringBuilder text = new StringBuilder("flowchart LR\n");
    Map<String, String> nodes = new HashMap<>();
    for (Stage stage : pipeline.stages()) {
      // A name such as `end` is a word of Mermaid's.
      String node = "s" + nodes.size();
      nodes.put(stage.name(), node);
      text.append("  ").append(node).append("[\"").append(stage.name()).append("\"]\n");
    }
    for (Stage stage : pipeline.stages()) {
      stage
          .after()
          .forEach(
              (earlier, condition) ->
                  text.append("  ")
                      .append(nodes.get(earlier))
                      .append(
                          condition == Condition.AFTEROK
                              ? " --> "
                              : " -- " + condition.text() + " --> ")
                      .append(nodes.get(stage.name()))
                      .append('\n'));
    }
    return text.toString();
  }

  static JsonObject json(PipelineConfig pipeline) {
    return JsonObject.ofVersion(1)
        .with("name", pipeline.name())
        .with("file", pipeline.file())
        .with("stages", pipeline.stages().stream().map(PipelineText::stage).toList());
  }
}
