package dev.nexa.slurm.command.monitor;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Csv;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.records.telemetry.LossCurve;
import dev.nexa.slurm.records.telemetry.Measure;
import dev.nexa.slurm.records.telemetry.NodeTelemetry;
import dev.nexa.slurm.records.telemetry.Series;
import dev.nexa.slurm.records.telemetry.TelemetrySummary.Figures;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Prints one task for {@code monitor show}: drawn lines, a table, CSV or JSON.
 *
 * @param nodes the attempts and nodes of the task, the oldest attempt first
 */
record MonitorText(String run, int task, List<NodeTelemetry> nodes, List<LossCurve> curves) {
  private static final int LABEL = 26;
  private static final int RANGE = 24;
  private static final int SHORTEST = 20;
  private static final int LONGEST = 60;

  /** A row of the table: a measure of one attempt on one node. */
  private record Row(NodeTelemetry node, Series series, Figures figures) {}

  private static final Columns<Row> TABLE =
      new Columns<Row>()
          .number("attempt", row -> row.node().file().restart() + 1)
          .text("node", row -> row.node().file().node())
          .text("gpu", row -> row.series().gpu())
          .text("measure", row -> words(row.series().measure()))
          .text("mean", row -> value(row.series().measure(), row.figures().mean()))
          .right()
          .text("p50", row -> value(row.series().measure(), row.figures().p50()))
          .right()
          .text("p95", row -> value(row.series().measure(), row.figures().p95()))
          .right()
          .text("peak", row -> value(row.series().measure(), row.figures().peak()))
          .right();

  /** Returns the newest attempt, drawn line by line. */
  String drawing(String heights, int terminal) {
    int width = Math.max(SHORTEST, Math.min(LONGEST, terminal - LABEL - RANGE));
    StringBuilder text = new StringBuilder();
    for (NodeTelemetry node : newest()) {
      text.append(headline(node)).append('\n');
      for (Series series : node.series()) {
        if (!series.points().isEmpty()) {
          List<Double> values = series.points().stream().map(Series.Point::value).toList();
          double top = top(series);
          line(text, label(series), Sparkline.of(values, 0, top, heights, width), width);
          text.append("0 to ")
              .append(value(series.measure(), BigDecimal.valueOf(top)))
              .append('\n');
        }
      }
      text.append('\n');
    }
    curves.forEach(curve -> loss(text, curve, heights, width));
    return text.toString();
  }

  private static void loss(StringBuilder text, LossCurve curve, String heights, int width) {
    text.append(curve.name()).append(", from ").append(curve.file());
    curve.gap().ifPresent(gap -> text.append(": ").append(gap.words()));
    text.append('\n');
    if (curve.points().isEmpty()) {
      text.append('\n');
      return;
    }
    List<Double> raw = curve.points().stream().map(LossCurve.Point::loss).toList();
    List<Double> smooth = curve.points().stream().map(LossCurve.Point::smoothed).toList();
    double low = raw.stream().mapToDouble(loss -> loss).min().orElse(0);
    double high = raw.stream().mapToDouble(loss -> loss).max().orElse(0);
    String lost = "x".repeat(curve.gap().map(gap -> columns(gap, curve.points(), width)).orElse(0));
    int left = width - lost.length();
    line(text, "raw", Sparkline.of(raw, low, high, heights, left) + lost, width);
    text.append(number(raw.get(0))).append(" to ").append(number(last(raw))).append('\n');
    line(text, "smoothed", Sparkline.of(smooth, low, high, heights, left) + lost, width);
    text.append(number(smooth.get(0))).append(" to ").append(number(last(smooth))).append("\n\n");
  }

  /** Returns how many of the columns stand for the last steps, whose loss is not a number. */
  private static int columns(LossCurve.Gap gap, List<LossCurve.Point> points, int width) {
    if (!gap.toTheEnd()) {
      return 0;
    }
    double share = (gap.last() - gap.from()) / (gap.last() - points.get(0).step());
    long drawn = Math.min(width, Math.round(points.size() / (1 - share)));
    return (int) Math.max(1, Math.min(width - 1, Math.round(drawn * share)));
  }

  private static void line(StringBuilder text, String label, String drawn, int width) {
    text.append(String.format("  %-" + LABEL + "s|%-" + width + "s| ", label, drawn));
  }

  private List<NodeTelemetry> newest() {
    return nodes.stream().filter(node -> isSameAttempt(nodes.get(nodes.size() - 1), node)).toList();
  }

  private static boolean isSameAttempt(NodeTelemetry one, NodeTelemetry other) {
    return one.file().restart() == other.file().restart()
        && one.file().submission().equals(other.file().submission());
  }

  private String headline(NodeTelemetry node) {
    String from = node.before().map(sample -> " from " + sample.at()).orElse("");
    String to = node.after().map(sample -> " to " + sample.at()).orElse("");
    String source = node.facts().source();
    String activity = node.facts().activity();
    int attempt = node.file().restart() + 1;
    return "%s: task %s, attempt %s on ".formatted(run, task, attempt)
        + node.file().node()
        + from
        + to
        + (source.equals("none") ? "" : ", GPUs by " + source)
        + (activity.equals("none") ? "" : ", SM activity by " + activity);
  }

  private static double top(Series series) {
    return series.measure().unit() == Measure.Unit.PERCENT ? 100 : series.spread().peak().orElse(0);
  }

  private static String label(Series series) {
    String gpu = series.gpu().map(number -> "gpu " + number + " ").orElse("");
    return gpu + words(series.measure()).replaceFirst(gpu.isEmpty() ? "^$" : "^gpu ", "");
  }

  private static String words(Measure measure) {
    return measure.key().replace('_', ' ').replace("sm ", "SM ");
  }

  private static String value(Measure measure, BigDecimal value) {
    return switch (measure.unit()) {
      case BYTES -> Memory.rounded(value.longValue());
      case BYTES_PER_SECOND -> Memory.rounded(value.longValue()) + "/s";
      default -> String.format(Locale.ROOT, "%.0f %s", value, measure.unit().symbol());
    };
  }

  private static String number(double value) {
    return new BigDecimal(value).round(new MathContext(4)).toPlainString();
  }

  private static double last(List<Double> values) {
    return values.get(values.size() - 1);
  }

  /** Returns the table over all attempts. */
  String table(TableStyle style) {
    return nodes.isEmpty() ? "" : TABLE.of(rows()).table(style);
  }

  private List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (NodeTelemetry node : nodes) {
      for (Series series : node.series()) {
        Figures.of(series.measure(), series.spread())
            .ifPresent(figures -> rows.add(new Row(node, series, figures)));
      }
    }
    return rows;
  }

  /** Returns what is wrong with the files, a sentence each. */
  List<String> problems() {
    List<String> problems = new ArrayList<>();
    for (NodeTelemetry node : nodes) {
      if (node.brokenLines() > 0) {
        problems.add(
            node.file().path() + ": " + node.brokenLines() + " lines are broken and do not count");
      }
      if (node.hangs() > 0) {
        problems.add(
            "%s on %s failed or gave no answer in time, times: %s"
                .formatted(node.facts().source(), node.file().node(), node.hangs()));
      }
      String fewer = "%s showed only %s of %s GPUs";
      node.fewestGpus()
          .map(fewest -> fewer.formatted(node.file().node(), fewest, node.facts().gpus()))
          .ifPresent(problems::add);
    }
    return problems;
  }

  /** Returns the points of all series, one value a line. */
  String csv() {
    StringBuilder text =
        new StringBuilder(
            Csv.line(List.of("attempt", "node", "gpu", "measure", "unit", "time", "value")));
    for (Row row : rows()) {
      for (Series.Point point : row.series().points()) {
        text.append(
            Csv.line(
                List.of(
                    "" + (row.node().file().restart() + 1),
                    row.node().file().node(),
                    row.series().gpu().map(String::valueOf).orElse(""),
                    row.series().measure().key(),
                    row.series().measure().unit().symbol(),
                    point.at().toString(),
                    BigDecimal.valueOf(point.value()).toPlainString())));
      }
    }
    for (LossCurve curve : curves) {
      for (LossCurve.Point point : curve.points()) {
        String step = BigDecimal.valueOf(point.step()).toPlainString();
        String loss = BigDecimal.valueOf(point.loss()).toPlainString();
        text.append(Csv.line(List.of("", "", "", curve.name(), "", step, loss)));
      }
      if (curve.gap().isPresent() && curve.gap().get().toTheEnd()) {
        String step = BigDecimal.valueOf(curve.gap().get().last()).toPlainString();
        text.append(Csv.line(List.of("", "", "", curve.name(), "", step, "NaN")));
      }
    }
    return text.toString();
  }

  /** Returns the document that {@code --json} prints. */
  JsonObject json() {
    return JsonObject.ofVersion(1)
        .with("run_id", run)
        .with("task", task)
        .with("nodes", nodes.stream().map(MonitorText::json).toList())
        .with("loss", curves.stream().map(MonitorText::json).toList());
  }

  private static JsonObject json(NodeTelemetry node) {
    return new JsonObject()
        .with("attempt", node.file().restart() + 1)
        .with("node", node.file().node())
        .with("interval_seconds", node.facts().intervalSeconds())
        .with("gpus", node.facts().gpus())
        .withOptional("fewest_gpus", node.fewestGpus())
        .with("source", node.facts().source())
        .with("activity", node.facts().activity())
        .with("cpus", node.facts().cpus())
        .with("samples", node.samples())
        .with("broken_lines", node.brokenLines())
        .with("hangs", node.hangs())
        .with("ended", node.ended())
        .with("series", node.series().stream().map(MonitorText::json).toList());
  }

  private static JsonObject json(Series one) {
    List<JsonObject> points =
        one.points().stream()
            .map(
                point ->
                    new JsonObject()
                        .with("at", point.at())
                        .with("value", BigDecimal.valueOf(point.value())))
            .toList();
    return new JsonObject()
        .with("measure", one.measure().key())
        .with("unit", one.measure().unit().symbol())
        .withOptional("gpu", one.gpu())
        .with("figures", Figures.of(one.measure(), one.spread()).map(Codec::write).orElse(null))
        .with("points", points);
  }

  private static JsonObject json(LossCurve curve) {
    List<JsonObject> points =
        curve.points().stream()
            .map(
                point ->
                    new JsonObject()
                        .with("step", BigDecimal.valueOf(point.step()))
                        .with("loss", BigDecimal.valueOf(point.loss()))
                        .with("smoothed", BigDecimal.valueOf(point.smoothed())))
            .toList();
    return new JsonObject()
        .with("name", curve.name())
        .with("source", curve.source())
        .with("file", curve.file().toString())
        .withOptional("not_a_number", curve.gap().map(LossCurve.Gap::words))
        .with("points", points);
  }

  /** Draws values as one line of characters of growing height. Pure. */
  static final class Sparkline {
    /** The heights in Unicode. */
    static final String BLOCKS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";

    /** The heights in ASCII. */
    static final String ASCII = " .:-=+*#@";

    private Sparkline() {}

    /**
     * Returns the line. Neighbours become one character if there are more values than characters.
     *
     * @param low the value that the lowest character stands for
     * @param high the value that the highest character stands for
     * @param heights the characters, the lowest first
     * @param width the most characters
     */
    static String of(List<Double> values, double low, double high, String heights, int width) {
      int columns = Math.min(width, values.size());
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < columns; column++) {
        int from = (int) ((long) column * values.size() / columns);
        int to = (int) ((long) (column + 1) * values.size() / columns);
        double sum = 0;
        for (int i = from; i < to; i++) {
          sum += values.get(i);
        }
        double share = high > low ? (sum / (to - from) - low) / (high - low) : 0;
        int top = heights.length() - 1;
        // A value above the lowest is seen, however small.
        int height = share <= 0 ? 0 : (int) Math.max(1, Math.round(share * top));
        line.append(heights.charAt(Math.min(top, height)));
      }
      return line.toString();
    }
  }
}
