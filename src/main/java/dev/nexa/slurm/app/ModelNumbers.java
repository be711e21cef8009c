package dev.nexa.slurm.app;

import dev.nexa.slurm.config.GpuCatalog.Gpu;
import dev.nexa.slurm.estimate.analytic.AnalyticEstimate;
import dev.nexa.slurm.estimate.analytic.MemoryFit;
import dev.nexa.slurm.estimate.analytic.Mfu;
import dev.nexa.slurm.estimate.analytic.ModelRun;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import java.util.Optional;

/**
 * What a run's model says of its memory and its time.
 *
 * @param memory empty where it cannot be told whether it fits
 * @param analytic empty where tokens, precision or the GPU are not known
 */
public record ModelNumbers(Optional<MemoryFit> memory, Optional<AnalyticEstimate> analytic) {
  private static final ModelNumbers NONE = new ModelNumbers(Optional.empty(), Optional.empty());

  /** By published runs. */
  static ModelNumbers of(Nexa nexa, Plan plan) {
    return of(nexa, plan, false);
  }

  /** The same, by this workspace's own finished runs where there are enough. */
  public static ModelNumbers calibrated(Nexa nexa, Plan plan) {
    return of(nexa, plan, true);
  }

  private static ModelNumbers of(Nexa nexa, Plan plan, boolean calibrated) {
    Optional<String> named = plan.allocation().gpuType();
    Optional<ModelRun> run = named.isPresent() ? ModelRun.of(plan) : Optional.empty();
    if (run.isEmpty()) {
      return NONE;
    }
    String type = named.orElseThrow();
    Optional<Gpu> gpu = nexa.configs().gpus().find(type);
    if (gpu.isEmpty()) {
      return NONE;
    }
    boolean timed = run.get().tokens().isPresent();
    Mfu mfu =
        timed && calibrated
            ? Mfu.from(PastModelRuns.alike(nexa, plan.stage(), type))
            : Mfu.PUBLISHED;
    return new ModelNumbers(run.get().memory(gpu.get()), run.get().expected(gpu.get(), mfu));
  }

  /** Puts both into an estimate's JSON. */
  public void addTo(JsonObject estimate) {
    if (memory.isPresent()) {
      estimate.with("memory", memory.get().toJson());
    }
    if (analytic.isPresent()) {
      estimate.with("analytic", analytic.get().toJson());
    }
  }

  /** What a person should know before it is submitted: that it does not fit. */
  Optional<String> note() {
    return memory.isPresent() && memory.get().fits().isPresent() && !memory.get().fits().get()
        ? Optional.of("note: memory of a GPU: " + memory.get().sentence())
        : Optional.empty();
  }
}
