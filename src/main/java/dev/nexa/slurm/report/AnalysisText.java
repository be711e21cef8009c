package dev.nexa.slurm.report;

import dev.nexa.slurm.costs.RunAnalysis;
import dev.nexa.slurm.costs.RunAnalysis.Group;
import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** How runs went, as rows and as JSON. */
public final class AnalysisText {
  private AnalysisText() {}

  /** For people: {@code 0-01:30:00}, {@code 12.5%}; a row for all at the end. */
  public static Grid forPeople(RunAnalysis analysis) {
    return grid(
        analysis,
        true,
        CostsText::percent,
        time -> time.map(s -> StatusText.clock(Duration.ofSeconds(s))).orElse(""),
        "");
  }

  /** For programs: seconds, parts of one. */
  public static Grid forPrograms(RunAnalysis analysis) {
    return grid(
        analysis,
        false,
        part -> part.map(BigDecimal::toPlainString).orElse(""),
        time -> time.map(String::valueOf).orElse(""),
        "_seconds");
  }

  private static Grid grid(
      RunAnalysis analysis,
      boolean withTotal,
      Function<Optional<BigDecimal>, String> part,
      Function<Optional<Long>, String> time,
      String unit) {
    List<String> columns = new ArrayList<>(analysis.by().words());
    columns.addAll(
        List.of(
            "runs",
            "success",
            "run" + unit + "_p50",
            "run" + unit + "_p90",
            "queue" + unit + "_p50",
            "queue" + unit + "_p90",
            "gpu_hours",
            "efficiency",
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
      cells.add(part.apply(group.successRate()));
      cells.add(time.apply(group.runSeconds(50)));
      cells.add(time.apply(group.runSeconds(90)));
      cells.add(time.apply(group.queueSeconds(50)));
      cells.add(time.apply(group.queueSeconds(90)));
      cells.add(CostsText.hours(group.gpuSeconds(), 2));
      cells.add(part.apply(group.efficiency()));
      cells.add(group.loss(50).map(BigDecimal::toPlainString).orElse(""));
      cells.add(group.loss(90).map(BigDecimal::toPlainString).orElse(""));
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
        .with("success_rate", group.successRate().orElse(null))
        .with("run_seconds_p50", group.runSeconds(50).orElse(null))
        .with("run_seconds_p90", group.runSeconds(90).orElse(null))
        .with("queue_seconds_p50", group.queueSeconds(50).orElse(null))
        .with("queue_seconds_p90", group.queueSeconds(90).orElse(null))
        .with("gpu_hours", CostsText.hours(group.gpuSeconds(), 4))
        .with("efficiency", group.efficiency().orElse(null))
        .with("loss_p50", group.loss(50).orElse(null))
        .with("loss_p90", group.loss(90).orElse(null));
  }
}
