package dev.nexa.slurm.data.stats;

/** The standard normal distribution. */
public final class Normal {
  /** Beyond this many standard deviations, doubles hold no other probability than 0 or 1. */
  private static final double FAR = 8;

  private Normal() {}

  /** Returns the probability of a value up to {@code x}, by Marsaglia's series (2004). */
  static double cumulative(double x) {
    if (Math.abs(x) > FAR) {
      return x > 0 ? 1 : 0;
    }
    double sum = x;
    double term = x;
    for (int i = 3; sum + term != sum; i += 2) {
      term *= x * x / i;
      sum += term;
    }
    return 0.5 + sum * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  }

  /**
   * Returns the value below which a share of the distribution lies.
   *
   * @param share between 0 and 1, both exclusive
   */
  public static double quantile(double share) {
    double low = -FAR;
    double high = FAR;
    for (int i = 0; i < 60; i++) {
      double middle = (low + high) / 2;
      if (cumulative(middle) < share) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return (low + high) / 2;
  }
}
