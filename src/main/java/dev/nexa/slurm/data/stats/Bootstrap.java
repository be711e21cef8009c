package dev.nexa.slurm.data.stats;

import java.util.Arrays;
import org.apache.commons.statistics.descriptive.Quantile;

/**
 * The distribution of a sample's mean, by drawing the sample again and again with replacement.
 *
 * <p>The drawn means are spread by the square root of n/(n-1), because a drawn sample varies less
 * than the population.
 */
public final class Bootstrap {
  /** The number of draws of a sample of usual size. */
  public static final int RESAMPLES = 10_000;

  private static final int LEAST_RESAMPLES = 1_000;

  /** Larger samples are drawn less often, so that a million values take seconds. */
  private static final long DRAWS = 200_000_000L;

  /** Interpolates linearly between two means (Hyndman and Fan's method 7), and reorders them. */
  private static final Quantile LINEAR =
      Quantile.withDefaults().with(Quantile.EstimationMethod.HF7);

  private final double[] means;

  private Bootstrap(double[] means) {
    this.means = means;
  }

  /**
   * Returns how often a sample is drawn.
   *
   * @param n its size
   * @param most how often it is drawn at most
   */
  public static int resamples(int n, int most) {
    return (int) Math.min(most, Math.max(LEAST_RESAMPLES, DRAWS / Math.max(1, n)));
  }

  /** Draws {@link #RESAMPLES} times at most. */
  public static Bootstrap of(double[] values, long seed) {
    return of(values, seed, RESAMPLES);
  }

  /**
   * Draws the values {@link #resamples} times.
   *
   * @param values at least one
   */
  public static Bootstrap of(double[] values, long seed, int most) {
    SplitMix random = new SplitMix(seed);
    int n = values.length;
    double mean = Sample.mean(values);
    double spread = n < 2 ? 1 : Math.sqrt(n / (n - 1.0));
    double[] means = new double[resamples(n, most)];
    for (int i = 0; i < means.length; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) {
        sum += values[random.below(n)] - mean;
      }
      means[i] = mean + spread * (sum / n);
    }
    return new Bootstrap(means);
  }

  /** Returns the interval that holds the middle share {@code confidence} of the means. */
  public Interval interval(double confidence) {
    double tail = (1 - confidence) / 2;
    double[] ends = LINEAR.evaluate(means, tail, 1 - tail);
    return new Interval(ends[0], ends[1], confidence);
  }

  /**
   * Returns the probability of a mean of at least {@code value}, never less than one in the number
   * of draws: the p-value of "the true mean is not below the value".
   */
  public double atLeast(double value) {
    return (Arrays.stream(means).filter(mean -> mean >= value).count() + 1.0)
        / (means.length + 1.0);
  }

  /** As {@link #atLeast}, for a mean of at most {@code value}. */
  public double atMost(double value) {
    return (Arrays.stream(means).filter(mean -> mean <= value).count() + 1.0)
        / (means.length + 1.0);
  }
}
