package dev.nexa.slurm.run.start;

import dev.nexa.slurm.job.config.site.GpuCatalog.Gpu;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.model.AnalyticEstimate;
import dev.nexa.slurm.job.estimate.model.MemoryFit;
import dev.nexa.slurm.job.estimate.model.Mfu;
import dev.nexa.slurm.job.estimate.model.ModelRun;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.run.Context;
import java.util.Optional;

/**
 * Predictions from a run's model: its memory and its GPU-hours.
 *
 * @param memory empty if it is unknown whether the model fits
 * @param analytic empty if the tokens, the precision or the GPU are unknown
 */
public record ModelNumbers(Optional<MemoryFit> memory, Optional<AnalyticEstimate> analytic) {
  private static final ModelNumbers NONE = new ModelNumbers(Optional.empty(), Optional.empty());

  /** Returns the numbers at the share of a GPU's peak that published runs reach. */
  static ModelNumbers of(Context context, Plan plan) {
    return of(context, plan, false);
  }

  /**
   * Returns the numbers at the share of a GPU's peak that this workspace's finished runs reach, or
   * that published runs reach if there are too few.
   */
  public static ModelNumbers calibrated(Context context, Plan plan) {
    return of(context, plan, true);
  }

  private static ModelNumbers of(Context context, Plan plan, boolean calibrated) {
    Optional<String> named = plan.allocation().gpuType();
    Optional<ModelRun> run = named.flatMap(type -> ModelRun.of(plan));
    Optional<Gpu> gpu = run.flatMap(model -> context.configs().gpus().find(named.get()));
    if (gpu.isEmpty()) {
      return NONE;
    }
    Mfu mfu =
        run.get().tokens().isPresent() && calibrated
            ? Mfu.from(PastModelRuns.alike(context, plan.stage(), named.get()))
            : Mfu.PUBLISHED;
    return new ModelNumbers(run.get().memory(gpu.get()), run.get().expected(gpu.get(), mfu));
  }

  /** Adds both numbers to an estimate's document. */
  public void addTo(EstimateFile estimate) {
    memory.ifPresent(parts -> estimate.memory(parts.toJson()));
    analytic.ifPresent(time -> estimate.analytic(time.toJson()));
  }

  /** Returns a warning if the model does not fit into the GPU's memory. */
  Optional<String> note() {
    return memory
        .filter(fit -> !fit.fits().orElse(true))
        .map(fit -> "note: memory of a GPU: " + fit.sentence());
  }
}
