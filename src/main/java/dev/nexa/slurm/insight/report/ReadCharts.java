package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.telemetry.LossCurve;
import dev.nexa.slurm.records.telemetry.Measure;
import dev.nexa.slurm.records.telemetry.NodeTelemetry;
import dev.nexa.slurm.records.telemetry.Series;
import dev.nexa.slurm.records.telemetry.Telemetry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads the charts of a run: the newest attempt of its first task, on the task's first node. */
final class ReadCharts {
  /** Enough for a chart of a run's page; a report has a hundred pages. */
  private static final int POINTS = 120;

  private static final int MOST_LINES = 8;
  private static final double GIB = 1L << 30;

  private static final List<Measure> MEASURES =
      List.of(
          Measure.GPU_UTILIZATION,
          Measure.SM_ACTIVITY,
          Measure.GPU_MEMORY,
          Measure.GPU_POWER,
          Measure.CPU_UTILIZATION,
          Measure.MEMORY);

  private ReadCharts() {}

  /**
   * Returns the charts; empty if the run was not sampled and has no loss.
   *
   * @param problems receives a line for each file that cannot be read
   */
  static List<ReportedChart> of(RunFolder run, List<String> problems) {
    List<ReportedChart> charts = new ArrayList<>();
    try {
      losses(charts, LossCurve.of(run, 0));
      List<NodeTelemetry> files = Telemetry.read(run, 0);
      if (!files.isEmpty()) {
        NodeTelemetry newest = files.get(files.size() - 1);
        MEASURES.forEach(measure -> add(charts, measure, newest));
      }
    } catch (RuntimeException unreadable) {
      problems.add(run.id() + ": its telemetry cannot be read: " + unreadable.getMessage());
    }
    return charts;
  }

  private static void losses(List<ReportedChart> charts, List<LossCurve> curves) {
    for (LossCurve curve : curves) {
      List<Double> steps = curve.points().stream().map(LossCurve.Point::step).toList();
      List<Double> raw = curve.points().stream().map(LossCurve.Point::loss).toList();
      List<Double> smoothed = curve.points().stream().map(LossCurve.Point::smoothed).toList();
      charts.add(
          new ReportedChart(
              curve.name().replace('_', ' '),
              "",
              false,
              List.of(
                  line("as logged", true, steps, raw), line("smoothed", false, steps, smoothed)),
              curve.gap()));
    }
  }

  private static void add(List<ReportedChart> charts, Measure measure, NodeTelemetry node) {
    List<ReportedChart.Line> lines = new ArrayList<>();
    boolean bytes = measure.unit() == Measure.Unit.BYTES;
    for (Series series : node.series()) {
      if (series.measure() != measure || lines.size() == MOST_LINES) {
        continue;
      }
      List<Double> at =
          series.points().stream().map(point -> point.at().toEpochMilli() / 1000.0).toList();
      List<Double> values =
          series.points().stream()
              .map(point -> bytes ? point.value() / GIB : point.value())
              .toList();
      String name = series.gpu().map(gpu -> "GPU " + gpu).orElse("the job's share of the node");
      lines.add(line(name, false, at, values));
    }
    if (!lines.isEmpty()) {
      String words = measure.key().replace('_', ' ');
      int upper = words.matches("(gpu|cpu|sm).*") ? words.indexOf(' ') : 1;
      String title = words.substring(0, upper).toUpperCase(Locale.ROOT) + words.substring(upper);
      charts.add(
          new ReportedChart(
              title,
              bytes ? "GiB" : measure.unit().symbol(),
              true,
              List.copyOf(lines),
              Optional.empty()));
    }
  }

  /** Returns a line of at most {@link #POINTS} points, each the mean of several. */
  private static ReportedChart.Line line(
      String name, boolean faint, List<Double> at, List<Double> values) {
    int each = (at.size() + POINTS - 1) / POINTS;
    if (each <= 1) {
      return new ReportedChart.Line(name, faint, at, values);
    }
    List<Double> places = new ArrayList<>();
    List<Double> means = new ArrayList<>();
    for (int from = 0; from < at.size(); from += each) {
      int to = Math.min(at.size(), from + each);
      double sum = 0;
      for (double value : values.subList(from, to)) {
        sum += value;
      }
      places.add(at.get(from));
      means.add(sum / (to - from));
    }
    return new ReportedChart.Line(name, faint, places, means);
  }
}
