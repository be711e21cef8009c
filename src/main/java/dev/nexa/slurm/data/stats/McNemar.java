package dev.nexa.slurm.data.stats;

import org.apache.commons.statistics.inference.AlternativeHypothesis;
import org.apache.commons.statistics.inference.BinomialTest;

/**
 * McNemar's exact test of paired 0/1 values. Only pairs that differ count: if nothing changed, each
 * of them is as likely a loss as a gain.
 */
public final class McNemar {
  private static final BinomialTest MORE_LOSSES =
      BinomialTest.withDefaults().with(AlternativeHypothesis.GREATER_THAN);

  private McNemar() {}

  /**
   * Returns the probability of at least this many losses if losses and gains are equally likely:
   * the one-sided p-value of "it did not become worse".
   *
   * @param losses pairs that went from 1 to 0
   * @param gains pairs that went from 0 to 1
   */
  public static double atLeast(int losses, int gains) {
    return losses == 0 ? 1 : MORE_LOSSES.test(losses + gains, losses, 0.5).getPValue();
  }

  /** Returns the fewest losses, without a gain, that are significant at {@code alpha}. */
  public static int fewestLosses(double alpha) {
    return (int) Math.ceil(Math.log(alpha) / Math.log(0.5) - 1e-9);
  }
}
