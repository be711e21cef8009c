package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.ReportedChart;
import dev.nexa.slurm.insight.report.ReportedChart.Line;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Instant;
import org.apache.commons.statistics.descriptive.Quantile;

/** Draws the telemetry and the losses of a run, with a table of each line's figures. Pure. */
final class Curves {
  private static final int WIDTH = 560;
  private static final int HEIGHT = 170;
  private static final int LEFT = 58;
  private static final double TOP = 8;
  private static final double PLOT = 134;
  private static final int STYLES = 7;
  private static final MathContext DIGITS = new MathContext(4, RoundingMode.HALF_EVEN);

  /** Of the values that were read, the smallest that the given share does not exceed. */
  private static final Quantile REACHED =
      Quantile.withDefaults().with(Quantile.EstimationMethod.HF1);

  private Curves() {}

  /** Returns the chart with its caption and its table. */
  static Tag figure(ReportedChart chart) {
    double first = Double.MAX_VALUE;
    double last = -Double.MAX_VALUE;
    double most = 0;
    for (Line line : chart.lines()) {
      for (int i = 0; i < line.at().size(); i++) {
        first = Math.min(first, line.at().get(i));
        last = Math.max(last, line.at().get(i));
        most = Math.max(most, line.values().get(i));
      }
    }
    if (chart.gap().isPresent()) {
      first = Math.min(first, chart.gap().get().from());
      last = Math.max(last, chart.gap().get().last());
    }
    String unit = chart.unit().isEmpty() ? "" : ", " + chart.unit();
    String caption = chart.title() + unit + chart.gap().map(gap -> ": " + gap.words()).orElse("");
    Table table =
        new Table(chart.title() + unit).words("Line").numbers("Mean", "Half", "95 %", "Most");
    if (chart.lines().stream().allMatch(line -> line.at().isEmpty())) {
      return PageParts.figure(caption, PageParts.note("No value was read."));
    }
    VerticalAxis scale =
        VerticalAxis.upTo(BigDecimal.valueOf(chart.unit().equals("%") ? 100 : most));
    Tag svg = Charts.svg(WIDTH, HEIGHT, chart.title() + " of the run");
    Charts.grid(svg, scale, LEFT, WIDTH, TOP, PLOT);
    double width = Math.max(1e-9, last - first);
    if (chart.gap().isPresent() && chart.gap().get().toTheEnd()) {
      double x = LEFT + (WIDTH - LEFT) * (chart.gap().get().from() - first) / width;
      svg.add(
          Charts.rect(x, TOP, Math.max(2, WIDTH - x), PLOT, "gap")
              .add(Tag.of("title", chart.gap().get().words())));
    }
    for (int i = 0; i < chart.lines().size(); i++) {
      Line line = chart.lines().get(i);
      StringBuilder path = new StringBuilder();
      for (int p = 0; p < line.at().size(); p++) {
        double x = LEFT + (WIDTH - LEFT) * (line.at().get(p) - first) / width;
        path.append(p == 0 ? 'M' : 'L').append(Figures.at(x, y(scale, line.values().get(p))));
      }
      svg.add(
          Tag.styled("path", "curve c" + i % STYLES + (line.faint() ? " faint" : ""))
              .with("d", path.toString())
              .add(Tag.of("title", line.name())));
      table.row(
          line.name(), mean(line), quantile(line, 0.5), quantile(line, 0.95), quantile(line, 1));
    }
    svg.add(
        Charts.text(LEFT, HEIGHT - 8, "start", place(chart, first, last - first)),
        Charts.text(WIDTH, HEIGHT - 8, "end", place(chart, last, last - first)));
    return PageParts.figure(caption, svg)
        .add(Tag.of("details").add(Tag.of("summary", "As a table"), table.tag()));
  }

  private static String place(ReportedChart chart, double at, double width) {
    return chart.overTime()
        ? Figures.time(Instant.ofEpochSecond((long) at), width) + " UTC"
        : "step " + Figures.count(Math.round(at));
  }

  private static double y(VerticalAxis scale, double value) {
    return TOP + PLOT * (1 - scale.share(BigDecimal.valueOf(value)));
  }

  private static String mean(Line line) {
    double sum = 0;
    for (double value : line.values()) {
      sum += value;
    }
    return rounded(sum / Math.max(1, line.values().size()));
  }

  private static String quantile(Line line, double share) {
    double[] values = line.values().stream().mapToDouble(Double::doubleValue).toArray();
    return values.length == 0 ? Figures.NONE : rounded(REACHED.evaluate(values, share));
  }

  private static String rounded(double value) {
    return Figures.axis(BigDecimal.valueOf(value).round(DIGITS));
  }
}
