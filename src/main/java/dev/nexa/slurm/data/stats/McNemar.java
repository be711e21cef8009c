package dev.nexa.slurm.data.stats;

/**
 * McNemar's exact test of paired 0/1 values. Only pairs that differ count: if nothing changed, each
 * of them is as likely a loss as a gain.
 */
public final class McNemar {
  private McNemar() {}

  /**
   * Returns the probability of at least this many losses if losses and gains are equally likely:
   * the one-sided p-value of "it did not become worse".
   *
   * @param losses pairs that went from 1 to 0
   * @param gains pairs that went from 0 to 1
   */
  public static double atLeast(int losses, int gains) {
    int n = losses + gains;
    // Of the two tails, the shorter one is summed: its terms are small and lose no digits.
    if (losses * 2L <= n) {
      return losses == 0 ? 1 : 1 - tail(n, n - losses + 1);
    }
    return tail(n, losses);
  }

  /** Returns the probability of at least {@code from} heads in {@code n} throws of a coin. */
  private static double tail(int n, int from) {
    double log = -n * Math.log(2);
    for (int i = 1; i <= from; i++) {
      log += Math.log(n - from + i) - Math.log(i);
    }
    double sum = 0;
    double term = Math.exp(log);
    for (int k = from; k <= n; k++) {
      sum += term;
      term *= (n - k) / (k + 1.0);
    }
    return Math.min(1, sum);
  }

  /** Returns the fewest losses, without a gain, that are significant at {@code alpha}. */
  public static int fewestLosses(double alpha) {
    return (int) Math.ceil(Math.log(alpha) / Math.log(0.5) - 1e-9);
  }
}
