package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.PipelineDetail;
import dev.nexa.slurm.insight.report.PipelineDetail.Stage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes the list of pipelines, and a page for each. */
final class PipelinePages {
  static final String ID = "pipelines";

  private final List<PipelineDetail> pipelines;
  private final Set<String> pages;

  PipelinePages(List<PipelineDetail> pipelines, Set<String> pages) {
    this.pipelines = pipelines;
    this.pages = pages;
  }

  List<Tag> tags() {
    List<Tag> all = new ArrayList<>();
    Table table =
        new Table("Pipelines, newest first")
            .words("Pipeline", "Name", "State", "User")
            .numbers("Created, UTC", "Stages", "Cost", "At most")
            .words("Currency");
    for (PipelineDetail one : pipelines) {
      table.row(
          Tag.of("a", one.id()).with("href", "#pipeline/" + one.id()),
          one.name(),
          States.badge(one.state()),
          one.user(),
          Figures.time(one.created()),
          Figures.count(one.stages().size()),
          Figures.money(one.cost(), one.currency()),
          Figures.money(one.total(), one.currency()),
          one.currency());
    }
    all.add(
        Parts.page(ID, "Pipelines", Figures.count(pipelines.size()) + " in this report")
            .add(table.isEmpty() ? Parts.note("No pipeline ran.") : table.tag()));
    pipelines.forEach(one -> all.add(page(one)));
    return all;
  }

  private Tag page(PipelineDetail pipeline) {
    Tag page =
        Tag.of("section")
            .with("id", "pipeline/" + pipeline.id())
            .add(Tag.of("h1", pipeline.name()))
            .add(
                Tag.styled("p", "sub")
                    .add(States.badge(pipeline.state()))
                    .text(
                        " \u00b7 %s \u00b7 %s \u00b7 created %s \u00b7 %s of at most %s %s"
                            .formatted(
                                pipeline.id(),
                                pipeline.user(),
                                Figures.time(pipeline.created()),
                                Figures.money(pipeline.cost(), pipeline.currency()),
                                Figures.money(pipeline.total(), pipeline.currency()),
                                pipeline.currency())));
    Table table =
        new Table("Stages, " + pipeline.currency())
            .words("Stage", "State", "After", "Run", "Why")
            .numbers("Tasks", "Cost", "At most");
    for (Stage stage : pipeline.stages()) {
      String after =
          stage.after().entrySet().stream()
              .map(
                  entry ->
                      entry.getValue().equals("afterok")
                          ? entry.getKey()
                          : entry.getValue() + ":" + entry.getKey())
              .collect(Collectors.joining(", "));
      table.row(
          stage.name(),
          States.badge(stage.state()),
          Figures.word(after),
          Parts.run(stage.run(), pages),
          Tag.styled("span", "long").text(Figures.word(stage.why())),
          Figures.count(stage.tasks()),
          Figures.money(stage.cost(), pipeline.currency()),
          Figures.money(stage.total(), pipeline.currency()));
    }
    return page.add(
        Parts.card("Graph")
            .add(
                StageGraph.figure(pipeline, pages),
                Parts.note(
                    "Solid: runs after success. Dashed: runs after failure, or in any case.")),
        Parts.card("Stages").add(table.tag()));
  }

  /** Returns the column of each stage: one more than that of the last stage it waits for. */
  static Map<String, Integer> columns(List<Stage> stages) {
    Map<String, Integer> columns = new HashMap<>();
    for (Stage stage : stages) {
      int column = 0;
      for (String earlier : stage.after().keySet()) {
        column = Math.max(column, columns.getOrDefault(earlier, 0) + 1);
      }
      columns.put(stage.name(), column);
    }
    return columns;
  }
}
