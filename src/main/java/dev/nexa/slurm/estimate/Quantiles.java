package dev.nexa.slurm.estimate;

import java.util.Arrays;

/**
 * Where the next value of a series will lie: below {@link #p50} half of the time and below {@link
 * #p90} nine times of ten, whatever the distribution (docs/estimating.md).
 *
 * <p>The P90 is the order statistic {@code ceil(0.9 (n + 1))} of the newest values, which covers
 * the next one of an exchangeable series (Vovk, Gammerman, Shafer, Algorithmic Learning in a Random
 * World, 2005). A series that drifts is not exchangeable: so the same forecast is made for each
 * past value from those before it, and a factor grows where it was missed and shrinks a little
 * where it was not (Gibbs, Candes, Adaptive Conformal Inference, 2021; here on the way from P50 to
 * P90, on the scale of the logarithm).
 */
final class Quantiles {
  /** Values that are looked back on: fewer follow a drift sooner, more are steadier. */
  private static final int WINDOW = 40;

  /** The same of the P50, which needs fewer. */
  private static final int RECENT = 21;

  /** With fewer nothing is promised. */
  static final int FEWEST = 5;

  private static final double COVERED = 0.9;

  /** How far one miss stretches the way from P50 to P90, in parts of it. */
  private static final double STEP = 0.3;

  /** Values that are all nearly the same still differ by so much. */
  private static final double NARROW = 0.02;

  /** The 90th percentile of Student's t by degrees of freedom, from 4 (any table). */
  private static final double[] STUDENT = {1.533, 1.476, 1.440, 1.415};

  private final double[] values;

  /** Of at least {@link #FEWEST} values above zero, oldest first. */
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

  /** The order statistic, as far again from the median as the factor says. */
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

  /** So many before that place, sorted. */
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

  /** Of fewer than nine the largest is not enough: the next value of a log-normal one. */
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
