package dev.nexa.slurm.job.estimate;

import java.util.Arrays;

/**
 * Predicts the next value of a series: it is below {@link #p50} half of the time and below {@link
 * #p90} nine times out of ten, whatever the distribution (docs/estimating.md).
 *
 * <p>The P90 is the order statistic {@code ceil(0.9 (n + 1))} of the newest values. It covers the
 * next value of an exchangeable series (Vovk, Gammerman, Shafer, Algorithmic Learning in a Random
 * World, 2005). A drifting series is not exchangeable. Therefore the same forecast is made for each
 * past value from the values before it. A factor grows with each miss and shrinks a little with
 * each hit (Gibbs, Candes, Adaptive Conformal Inference, 2021). It stretches the distance from P50
 * to P90 on a logarithmic scale.
 */
final class Quantiles {
  /** The number of values behind the P90. Fewer follow a drift sooner; more are steadier. */
  private static final int WINDOW = 40;

  /** The number of values behind the P50, which needs fewer. */
  private static final int RECENT = 21;

  /** The least number of values for a forecast. */
  static final int FEWEST = 5;

  private static final double COVERED = 0.9;

  /** How much one miss stretches the distance from P50 to P90, as a part of it. */
  private static final double STEP = 0.3;

  /** The least distance from P50 to P90, for values that are nearly equal. */
  private static final double NARROW = 0.02;

  /** The 90th percentile of Student's t, from 4 degrees of freedom on. */
  private static final double[] STUDENT = {1.533, 1.476, 1.440, 1.415};

  private final double[] values;

  /** Creates a forecast from at least {@link #FEWEST} values above zero, oldest first. */
  Quantiles(double[] oldestFirst) {
    this.values = oldestFirst;
  }

  double p50() {
    return median(newest(values.length, RECENT));
  }

  double p90() {
    double factor = 0;
    for (int i = FEWEST; i < values.length; i++) {
      boolean missed = values[i] > stretched(before(i), factor);
      factor += missed ? STEP * COVERED : -STEP * (1 - COVERED);
    }
    return Math.max(p50(), stretched(before(values.length), factor));
  }

  /** Returns the order statistic, moved away from the median by the factor. */
  private static double stretched(double[] sorted, double factor) {
    double plain = plain(sorted);
    double width = Math.max(NARROW, Math.log(plain / median(sorted)));
    return plain * Math.exp(width * factor);
  }

  private static double median(double[] sorted) {
    return sorted[sorted.length / 2];
  }

  private double[] before(int end) {
    return newest(end, WINDOW);
  }

  /** Returns at most {@code count} values before an index, sorted. */
  private double[] newest(int end, int count) {
    double[] newest = Arrays.copyOfRange(values, Math.max(0, end - count), end);
    Arrays.sort(newest);
    return newest;
  }

  private static double plain(double[] sorted) {
    int count = sorted.length;
    int rank = (int) Math.ceil(COVERED * (count + 1));
    return rank <= count ? sorted[rank - 1] : Math.max(sorted[count - 1], ofFew(sorted));
  }

  /**
   * For fewer than nine values the largest is too small: returns the prediction for a log-normal
   * series.
   */
  private static double ofFew(double[] sorted) {
    int count = sorted.length;
    double sum = 0;
    for (double value : sorted) {
      sum += Math.log(value);
    }
    double mean = sum / count;
    double squares = 0;
    for (double value : sorted) {
      squares += (Math.log(value) - mean) * (Math.log(value) - mean);
    }
    double deviation = Math.sqrt(squares / (count - 1));
    double t = STUDENT[count - FEWEST];
    return Math.exp(mean + t * deviation * Math.sqrt(1 + 1.0 / count));
  }
}
