package dev.nexa.slurm.estimate.analytic;

import java.util.Arrays;
import java.util.List;

/**
 * The share of a GPU's dense peak that training makes use of: model FLOPs utilization (Chowdhery et
 * al. 2022, arXiv 2204.02311, appendix B), over the whole run, with its pauses.
 *
 * @param runs of this workspace that it is from; 0 for the published ones
 */
public record Mfu(double low, double middle, double high, int runs) {
  /** What holds most published runs (docs/estimates.md); 0.54 / 0.155 is 3.48. */
  public static final Mfu PUBLISHED = new Mfu(0.155, 0.29, 0.54, 0);

  /** Fewer runs than that say less than the published ones. */
  public static final int ENOUGH = 5;

  /**
   * What a finished run did.
   *
   * @param flops that it needed
   * @param gpuSeconds that it held GPUs for
   * @param peak FLOP/s of one of them
   */
  public record PastRun(double flops, double gpuSeconds, double peak) {
    /** More than the GPU can do was not done: the tokens that were told are not those that ran. */
    boolean tells() {
      return flops > 0 && gpuSeconds > 0 && peak > 0 && share() <= 1;
    }

    double share() {
      return flops / (gpuSeconds * peak);
    }
  }

  /** From runs like the one that is estimated: their median, and what nine of ten lie within. */
  public static Mfu from(List<PastRun> alike) {
    double[] shares = new double[alike.size()];
    int count = 0;
    for (PastRun run : alike) {
      if (run.tells()) {
        shares[count++] = run.share();
      }
    }
    if (count < ENOUGH) {
      return PUBLISHED;
    }
    shares = Arrays.copyOf(shares, count);
    Arrays.sort(shares);
    return new Mfu(quantile(shares, 0.05), quantile(shares, 0.5), quantile(shares, 0.95), count);
  }

  public boolean calibrated() {
    return runs > 0;
  }

  /** Between neighbours in proportion. */
  private static double quantile(double[] sorted, double share) {
    double at = share * (sorted.length - 1);
    int below = (int) at;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  }
}
