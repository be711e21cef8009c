package dev.nexa.slurm.job.estimate.model;

import dev.nexa.slurm.job.config.site.GpuCatalog.Gpu;
import java.util.Locale;
import java.util.Optional;

/**
 * The speed of a model that generates tokens (docs/estimates.md). Not validated against published
 * runs.
 *
 * <p>Each step reads all weights once for all requests, and computes 2 FLOPs per active parameter
 * for each token. The slower of the two limits the speed.
 *
 * @param tokensPerSecond the ceiling for one GPU: only memory and arithmetic take time
 * @param flopsPerToken operations for one token
 * @param peak FLOP/s of one GPU
 * @param requests the number of requests at the same time
 */
record DecodeSpeed(double tokensPerSecond, double flopsPerToken, double peak, int requests) {
  /** Shares of the ceiling, as far apart as the shares for training. */
  private static final double LOW = 0.2;

  private static final double MIDDLE = 0.4;
  private static final double HIGH = 0.7;

  /** vLLM's default of max_num_seqs. */
  private static final int REQUESTS = 256;

  private static final double HALF = 2;
  private static final double SECONDS_AN_HOUR = 3600;

  static Optional<DecodeSpeed> of(ModelRun run, Gpu gpu) {
    if (gpu.bandwidthBytes().isEmpty() || gpu.bf16Flops().isEmpty()) {
      return Optional.empty();
    }
    double step = HALF * run.setup().model().parameters() / run.setup().spread().splits();
    double reading = step / gpu.bandwidthBytes().get() / REQUESTS;
    double flops = run.flops() / run.setup().spread().splits();
    double computing = flops / gpu.bf16Flops().get();
    double each = 1 / Math.max(reading, computing) / run.setup().spread().splits();
    return Optional.of(new DecodeSpeed(each, run.flops(), gpu.bf16Flops().get(), REQUESTS));
  }

  AnalyticEstimate estimate(double tokens, ModelRun run) {
    double hours = tokens / tokensPerSecond / SECONDS_AN_HOUR;
    String sentence =
        String.format(
            Locale.ROOT,
            "%.2e tokens at %.0f to %.0f tokens/s a GPU with %d requests at once, from memory"
                + " bandwidth and FLOPs; not held against published runs",
            tokens,
            tokensPerSecond * LOW,
            tokensPerSecond * HIGH,
            requests);
    return new AnalyticEstimate(
        hours / HIGH,
        hours / MIDDLE,
        hours / LOW,
        flopsPerToken * tokens,
        peak,
        false,
        sentence,
        run.assumptions());
  }
}
