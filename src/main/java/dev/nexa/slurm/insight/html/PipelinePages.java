package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.PipelineDetail;
import dev.nexa.slurm.insight.report.PipelineDetail.Stage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes the list of pipelines, and a page for each. */
record PipelinePages(List<PipelineDetail> pipelines, Set<String> pages) {
  static final String ID = "pipelines";
  private static final int WIDTH = 168;
  private static final int HEIGHT = 46;
  private static final int GAP = 54;
  private static final int ROW = 64;
  private static final int LONGEST = 22;

  List<Tag> tags() {
    Table table =
        new Table("Pipelines, newest first")
            .words("Pipeline", "Name", "State", "User")
            .numbers("Created, UTC", "Stages", "Cost", "At most")
            .words("Currency");
    for (PipelineDetail one : pipelines) {
      table.row(
          Tag.link(one.id(), "#pipeline/" + one.id()),
          one.name(),
          PageParts.badge(one.state()),
          one.user(),
          Figures.time(one.created()),
          one.stages().size(),
          Figures.money(one.cost(), one.currency()),
          Figures.money(one.total(), one.currency()),
          one.currency());
    }
    Tag list =
        PageParts.page(ID, "Pipelines", Figures.count(pipelines.size()) + " in this report")
            .add(table.isEmpty() ? PageParts.note("No pipeline ran.") : table.tag());
    return Stream.concat(Stream.of(list), pipelines.stream().map(this::page)).toList();
  }

  private Tag page(PipelineDetail pipeline) {
    Tag page =
        Tag.of("section")
            .with("id", "pipeline/" + pipeline.id())
            .add(Tag.of("h1", pipeline.name()))
            .add(
                Tag.styled("p", "sub")
                    .add(PageParts.badge(pipeline.state()))
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
        new Table("Stages", pipeline.currency())
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
          PageParts.badge(stage.state()),
          Figures.word(after),
          PageParts.run(stage.run(), pages),
          Tag.styled("span", "long").text(Figures.word(stage.why())),
          stage.tasks(),
          Figures.money(stage.cost(), pipeline.currency()),
          Figures.money(stage.total(), pipeline.currency()));
    }
    return page.add(
        PageParts.card("Graph")
            .add(
                graph(pipeline, pages),
                PageParts.note(
                    "Solid: runs after success. Dashed: runs after failure, or in any case.")),
        PageParts.card("Stages").add(table.tag()));
  }

  /**
   * Returns the column of each stage: one more than the column of the last stage that it waits for.
   */
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

  /** Draws the stages of a pipeline from left to right, with their states. */
  private static Tag graph(PipelineDetail pipeline, Set<String> pages) {
    Map<String, Integer> columns = columns(pipeline.stages());
    Map<Integer, Integer> heights = new HashMap<>();
    Map<String, double[]> places = new HashMap<>();
    int last = 0;
    for (Stage stage : pipeline.stages()) {
      int column = columns.getOrDefault(stage.name(), 0);
      int row = heights.merge(column, 1, Integer::sum) - 1;
      places.put(stage.name(), new double[] {column * (WIDTH + GAP) + 1.0, row * ROW + 6.0});
      last = Math.max(last, column);
    }
    int rows = heights.values().stream().max(Integer::compare).orElse(1);
    int width = Math.max(760, (last + 1) * (WIDTH + GAP) - GAP + 2);
    int height = rows * ROW;
    // Columns with fewer stages stand in the middle.
    for (Stage stage : pipeline.stages()) {
      int own = heights.getOrDefault(columns.getOrDefault(stage.name(), 0), 1);
      double[] place = places.getOrDefault(stage.name(), new double[2]);
      place[1] += (rows - own) * ROW / 2.0;
    }
    Tag svg =
        Tag.of("svg")
            .with("viewBox", "0 0 " + width + " " + height)
            .with("width", Integer.toString(width))
            .with("role", "group")
            .with("aria-label", "Stages of " + pipeline.name() + " and what they wait for");
    for (Stage stage : pipeline.stages()) {
      double[] to = places.getOrDefault(stage.name(), new double[2]);
      for (Map.Entry<String, String> after : stage.after().entrySet()) {
        double[] from = places.getOrDefault(after.getKey(), new double[2]);
        edge(svg, from, to, after.getValue().equals("afterok"));
      }
    }
    pipeline
        .stages()
        .forEach(one -> node(svg, one, places.getOrDefault(one.name(), new double[2]), pages));
    return Table.scrolling("Graph of " + pipeline.name(), svg);
  }

  private static void edge(Tag svg, double[] from, double[] to, boolean plain) {
    double x1 = from[0] + WIDTH;
    double y1 = from[1] + HEIGHT / 2.0;
    double x2 = to[0] - 7;
    double y2 = to[1] + HEIGHT / 2.0;
    double middle = (x1 + x2) / 2;
    svg.add(
        Tag.styled("path", plain ? "edge" : "edge other")
            .with(
                "d",
                "M%sC%s %s %s"
                    .formatted(
                        Figures.at(x1, y1),
                        Figures.at(middle, y1),
                        Figures.at(middle, y2),
                        Figures.at(x2, y2))),
        Tag.styled("path", "head").with("d", "M" + Figures.at(x2, y2 - 4) + "l7 4l-7 4Z"));
  }

  private static void node(Tag svg, Stage stage, double[] at, Set<String> pages) {
    String tasks = stage.tasks() > 1 ? ", " + stage.tasks() + " tasks" : "";
    String words = stage.state().replace('_', ' ') + tasks;
    Tag group =
        Tag.styled("g", "node")
            .add(
                Charts.rect(at[0], at[1], WIDTH, HEIGHT, "box").with("rx", "5"),
                Charts.rect(at[0], at[1], 5, HEIGHT, PageParts.bar(stage.state())).with("rx", "2"),
                Charts.text(
                    at[0] + 15, at[1] + 19, "start", DataScript.shortened(stage.name(), LONGEST)),
                Charts.text(at[0] + 15, at[1] + 36, "start", words).with("class", "small"));
    svg.add(
        pages.contains(stage.run())
            ? Tag.of("a").with("href", "#run/" + stage.run()).add(group)
            : group);
  }
}
