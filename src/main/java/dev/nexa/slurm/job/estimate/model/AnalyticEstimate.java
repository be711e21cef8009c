package dev.nexa.slurm.job.estimate.model;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.List;
import java.util.Locale;

/**
 * The expected GPU-hours of a run, from its FLOPs.
 *
 * @param lowGpuHours the lower end: at a high share of the peak
 * @param middleGpuHours the most likely GPU-hours
 * @param highGpuHours the upper end: at a low share of the peak
 * @param flops the operations of the whole run
 * @param peak FLOP/s of one GPU
 * @param calibrated whether the share of the peak comes from this workspace's runs
 * @param sentence the basis of the estimate, for users
 * @param assumptions values that the config does not give and the estimate assumes
 */
public record AnalyticEstimate(
    double lowGpuHours,
    double middleGpuHours,
    double highGpuHours,
    double flops,
    double peak,
    boolean calibrated,
    String sentence,
    List<String> assumptions) {
  private static final double SECONDS_AN_HOUR = 3600;

  /** Returns the estimate for a number of operations at a share of the peak. */
  static AnalyticEstimate of(double flops, double peak, Mfu mfu, List<String> assumptions) {
    double hours = flops / peak / SECONDS_AN_HOUR;
    String share =
        mfu.calibrated()
            ? "as the last " + mfu.runs() + " runs like it used"
            : "as published runs use, because fewer than " + Mfu.ENOUGH + " of yours tell";
    String sentence =
        String.format(
            Locale.ROOT,
            "%.2e FLOPs at %s of %.0f TFLOP/s a GPU, %s",
            flops,
            percent(mfu),
            peak / 1e12,
            share);
    return new AnalyticEstimate(
        hours / mfu.high(),
        hours / mfu.middle(),
        hours / mfu.low(),
        flops,
        peak,
        mfu.calibrated(),
        sentence,
        assumptions);
  }

  private static String percent(Mfu mfu) {
    return String.format(Locale.ROOT, "%.1f to %.1f %%", mfu.low() * 100, mfu.high() * 100);
  }

  /**
   * Returns the key {@code analytic} of an estimate. Its {@code flops} and {@code peak_flops}
   * calibrate later estimates.
   */
  public JsonObject toJson() {
    return new JsonObject()
        .with(
            "gpu_hours",
            new JsonObject()
                .with("low", hours(lowGpuHours))
                .with("middle", hours(middleGpuHours))
                .with("high", hours(highGpuHours)))
        .with("flops", plain(flops))
        .with("peak_flops", plain(peak))
        .with("calibrated", calibrated)
        .with("sentence", sentence)
        .with("assumptions", assumptions);
  }

  private static String hours(double hours) {
    return String.format(Locale.ROOT, "%.4f", hours);
  }

  private static String plain(double number) {
    return String.format(Locale.ROOT, "%.4e", number);
  }
}
