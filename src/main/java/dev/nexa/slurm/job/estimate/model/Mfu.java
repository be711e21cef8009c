package dev.nexa.slurm.job.estimate.model;

import static org.apache.commons.statistics.descriptive.Quantile.EstimationMethod.HF7;

import java.util.List;
import org.apache.commons.statistics.descriptive.Quantile;

/**
 * The share of a GPU's dense peak that training uses: model FLOPs utilization (Chowdhery et al.
 * 2022, arXiv 2204.02311, appendix B), over the whole run with its pauses.
 *
 * @param low the lower end of the range
 * @param middle the most likely share
 * @param high the upper end of the range
 * @param runs the number of this workspace's runs behind it; 0 for published runs
 */
public record Mfu(double low, double middle, double high, int runs) {
  /** The range of most published runs (docs/estimates.md). */
  public static final Mfu PUBLISHED = new Mfu(0.155, 0.29, 0.54, 0);

  /** The least number of own runs that replace the published range. */
  public static final int ENOUGH = 5;

  /**
   * The work of a finished run.
   *
   * @param flops the operations that it needed
   * @param gpuSeconds GPUs times seconds
   * @param peak FLOP/s of one GPU
   */
  public record PastRun(double flops, double gpuSeconds, double peak) {
    /**
     * Returns whether the run is usable. A share above 1 is impossible: the stated tokens are then
     * wrong.
     */
    boolean tells() {
      return flops > 0 && gpuSeconds > 0 && peak > 0 && share() <= 1;
    }

    double share() {
      return flops / (gpuSeconds * peak);
    }
  }

  /**
   * Returns the median and the middle 90 % of similar runs; {@link #PUBLISHED} if there are too
   * few.
   */
  public static Mfu from(List<PastRun> alike) {
    double[] shares = alike.stream().filter(PastRun::tells).mapToDouble(PastRun::share).toArray();
    if (shares.length < ENOUGH) {
      return PUBLISHED;
    }
    double[] range = Quantile.withDefaults().with(HF7).evaluate(shares, 0.05, 0.5, 0.95);
    return new Mfu(range[0], range[1], range[2], shares.length);
  }

  /** Returns whether the range comes from this workspace's runs. */
  public boolean calibrated() {
    return runs > 0;
  }
}
