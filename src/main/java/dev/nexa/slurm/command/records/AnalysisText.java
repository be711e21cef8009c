package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.units.Hours;
import dev.nexa.slurm.money.summary.RunAnalysis;
import dev.nexa.slurm.money.summary.RunAnalysis.Group;
import java.util.ArrayList;
import java.util.List;

/** Formats the statistics of {@code runs analyze}. */
public final class AnalysisText {
  private static final Columns<Group> STATISTICS =
      new Columns<Group>()
          .number("runs", Group::runs)
          .number("runs_completed", Group::completed)
          .ratio("success_ratio", group -> group.successRatio().orElse(null))
          .seconds("run_seconds_p50", group -> group.runSeconds(50).orElse(null))
          .seconds("run_seconds_p90", group -> group.runSeconds(90).orElse(null))
          .seconds("queue_seconds_p50", group -> group.queueSeconds(50).orElse(null))
          .seconds("queue_seconds_p90", group -> group.queueSeconds(90).orElse(null))
          .hours("gpu_hours", group -> Hours.of(group.gpuSeconds()))
          .ratio("efficiency_ratio", group -> group.efficiency().orElse(null))
          .number("loss_p50", group -> group.loss(50).orElse(null))
          .number("loss_p90", group -> group.loss(90).orElse(null));

  private AnalysisText() {}

  /**
   * Returns a row for each group.
   *
   * @param withTotal whether to add a row for all groups
   */
  public static Listing<Group> listing(RunAnalysis analysis, boolean withTotal) {
    List<Group> groups = new ArrayList<>(analysis.groups());
    if (withTotal) {
      groups.add(analysis.total());
    }
    return analysis.by().columns(Group::key).and(STATISTICS).of(groups);
  }

  /** Returns the JSON document. */
  public static JsonObject json(RunAnalysis analysis, List<String> problems) {
    List<JsonObject> groups =
        analysis.groups().stream()
            .map(group -> STATISTICS.addTo(analysis.by().json(group, Group::key), group))
            .toList();
    return JsonObject.ofVersion(1)
        .with("by", analysis.by().words())
        .with("groups", groups)
        .with("total", STATISTICS.addTo(new JsonObject(), analysis.total()))
        .with("problems", problems);
  }
}
