package dev.nexa.slurm.report;

import dev.nexa.slurm.costs.RunAnalysis;
import dev.nexa.slurm.costs.RunAnalysis.Group;
import dev.nexa.slurm.files.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** How runs went, as rows and as JSON. */
public final class AnalysisText {
  private AnalysisText() {}

  /** A row for each group; {@code withTotal} adds one for all. */
  public static Grid grid(RunAnalysis analysis, boolean withTotal) {
    List<String> columns = new ArrayList<>(analysis.by().words());
    columns.addAll(
        List.of(
            "runs",
            "runs_completed",
            "success_ratio",
            "run_seconds_p50",
            "run_seconds_p90",
            "queue_seconds_p50",
            "queue_seconds_p90",
            "gpu_hours",
            "efficiency_ratio",
            "loss_p50",
            "loss_p90"));
    Grid grid = new Grid(columns);
    List<Group> groups = new ArrayList<>(analysis.groups());
    if (withTotal) {
      groups.add(analysis.total());
    }
    for (Group group : groups) {
      List<String> cells = new ArrayList<>(group.key());
      if (group == analysis.total()) {
        cells.add("all");
      }
      while (cells.size() < analysis.by().words().size()) {
        cells.add("");
      }
      cells.add("" + group.runs());
      cells.add("" + group.completed());
      cells.add(CostsText.plain(group.successRatio()));
      cells.add(group.runSeconds(50).map(String::valueOf).orElse(""));
      cells.add(group.runSeconds(90).map(String::valueOf).orElse(""));
      cells.add(group.queueSeconds(50).map(String::valueOf).orElse(""));
      cells.add(group.queueSeconds(90).map(String::valueOf).orElse(""));
      cells.add(CostsText.hours(group.gpuSeconds()));
      cells.add(CostsText.plain(group.efficiency()));
      cells.add(CostsText.plain(group.loss(50)));
      cells.add(CostsText.plain(group.loss(90)));
      grid.row(cells);
    }
    return grid;
  }

  /** As a document. */
  public static JsonObject json(RunAnalysis analysis, List<String> problems) {
    List<JsonObject> groups = new ArrayList<>();
    for (Group group : analysis.groups()) {
      JsonObject key = new JsonObject();
      for (int i = 0; i < group.key().size(); i++) {
        key.with(analysis.by().words().get(i), group.key().get(i));
      }
      groups.add(json(new JsonObject().with("key", key), group));
    }
    return new JsonObject()
        .with("schema_version", 1)
        .with("by", analysis.by().words())
        .with("groups", groups)
        .with("total", json(new JsonObject(), analysis.total()))
        .with("problems", problems);
  }

  private static JsonObject json(JsonObject object, Group group) {
    return object
        .with("runs", group.runs())
        .with("runs_completed", group.completed())
        .with("success_ratio", group.successRatio().orElse(null))
        .with("run_seconds_p50", group.runSeconds(50).orElse(null))
        .with("run_seconds_p90", group.runSeconds(90).orElse(null))
        .with("queue_seconds_p50", group.queueSeconds(50).orElse(null))
        .with("queue_seconds_p90", group.queueSeconds(90).orElse(null))
        .with("gpu_hours", CostsText.hours(group.gpuSeconds()))
        .with("efficiency_ratio", group.efficiency().orElse(null))
        .with("loss_p50", group.loss(50).orElse(null))
        .with("loss_p90", group.loss(90).orElse(null));
  }
}
