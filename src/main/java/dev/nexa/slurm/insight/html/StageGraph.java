package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.PipelineDetail;
import dev.nexa.slurm.insight.report.PipelineDetail.Stage;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Draws the stages of a pipeline from left to right, with their states. Pure. */
final class StageGraph {
  private static final int WIDTH = 168;
  private static final int HEIGHT = 46;
  private static final int GAP = 54;
  private static final int ROW = 64;
  private static final int LONGEST = 22;

  private StageGraph() {}

  static Tag figure(PipelineDetail pipeline, Set<String> pages) {
    Map<String, Integer> columns = PipelinePages.columns(pipeline.stages());
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
    for (Stage stage : pipeline.stages()) {
      node(svg, stage, places.getOrDefault(stage.name(), new double[2]), pages);
    }
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
                "M%s %sC%s %s %s %s %s %s"
                    .formatted(
                        Figures.at(x1),
                        Figures.at(y1),
                        Figures.at(middle),
                        Figures.at(y1),
                        Figures.at(middle),
                        Figures.at(y2),
                        Figures.at(x2),
                        Figures.at(y2))),
        Tag.styled("path", "head")
            .with("d", "M" + Figures.at(x2) + " " + Figures.at(y2 - 4) + "l7 4l-7 4Z"));
  }

  private static void node(Tag svg, Stage stage, double[] at, Set<String> pages) {
    Tag group =
        Tag.styled("g", "node")
            .add(
                Charts.rect(at[0], at[1], WIDTH, HEIGHT, "box").with("rx", "5"),
                Charts.rect(at[0], at[1], 5, HEIGHT, States.bar(stage.state())).with("rx", "2"),
                Charts.text(
                    at[0] + 15, at[1] + 19, "start", DataScript.shortened(stage.name(), LONGEST)),
                Charts.text(
                        at[0] + 15,
                        at[1] + 36,
                        "start",
                        stage.state().replace('_', ' ')
                            + (stage.tasks() > 1 ? ", " + stage.tasks() + " tasks" : ""))
                    .with("class", "small"));
    svg.add(
        pages.contains(stage.run())
            ? Tag.of("a").with("href", "#run/" + stage.run()).add(group)
            : group);
  }
}
