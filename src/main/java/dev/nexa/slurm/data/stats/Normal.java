package dev.nexa.slurm.data.stats;

import org.apache.commons.statistics.distribution.NormalDistribution;

/** The standard normal distribution. */
public final class Normal {
  private static final NormalDistribution STANDARD = NormalDistribution.of(0, 1);

  private Normal() {}

  /**
   * Returns the value that a share of the distribution does not exceed.
   *
   * @param share between 0 and 1, both exclusive
   */
  public static double quantile(double share) {
    return STANDARD.inverseCumulativeProbability(share);
  }
}
