package dev.nexa.slurm.estimate.analytic;

import dev.nexa.slurm.files.JsonObject;
import java.util.List;
import java.util.Locale;

/**
 * GPU-hours that a run will probably take, from its FLOPs.
 *
 * @param lowGpuHours if it goes well
 * @param highGpuHours if it goes badly
 * @param flops of the whole run
 * @param peak FLOP/s of one GPU
 * @param calibrated whether from this workspace's own runs
 * @param sentence what it is from, for people
 * @param assumptions what was not said and is taken to be so
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

  /** So many FLOPs at such a share of that peak. */
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
   * The key {@code analytic} of an estimate; {@code flops} and {@code peak} calibrate later ones.
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
