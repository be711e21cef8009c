package dev.nexa.slurm.records.telemetry;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The values of one measure on one node, in the order of time.
 *
 * @param gpu the GPU's number on its node; empty for values of the node
 * @param points at most {@value Points#MOST} points; if the series is longer, each point is the
 *     mean of a stretch of time, and bears the time of its beginning
 * @param spread the distribution of all values; it gives P50, P95, mean and peak
 */
public record Series(Measure measure, Optional<Integer> gpu, List<Point> points, Spread spread) {

  /** One value at one time. */
  public record Point(Instant at, double value) {}

  static List<Point> timed(Points points) {
    return points.toList().stream()
        .map(point -> new Point(Instant.ofEpochMilli((long) point.at()), point.value()))
        .toList();
  }
}
