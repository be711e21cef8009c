package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.records.telemetry.LossCurve;
import java.util.List;
import java.util.Optional;

/**
 * A chart of a run: what the sampler measured over time, or a loss over steps.
 *
 * @param title such as {@code GPU utilization}
 * @param unit the unit of the values; empty for a plain number
 * @param overTime whether a line's places are seconds since 1970; else they are steps
 * @param lines the lines, such as one for each GPU
 * @param gap the steps whose loss is not a number
 */
public record ReportedChart(
    String title, String unit, boolean overTime, List<Line> lines, Optional<LossCurve.Gap> gap) {
  /**
   * A line of the chart.
   *
   * @param faint whether it is drawn behind the others: a raw loss behind the smoothed one
   * @param at the places, growing
   * @param values a value for each place
   */
  public record Line(String name, boolean faint, List<Double> at, List<Double> values) {}
}
