package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.config.Energy;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.submit.ArrayShape;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What the run was planned and estimated to be, read back from its folder.
 *
 * @param plannedGpus GPUs one task is charged for, over all its nodes
 * @param plannedTres what one task was planned to hold, written as AllocTRES is
 * @param timeLimit of one attempt
 * @param requeues how often Slurm may run a task again
 * @param estimate the document that was kept
 * @param points of a sweep: what each task sets; empty where there is none
 * @param kept what is charged for its durable files; empty where the profile does not say for how
 *     long
 * @param energy what the cluster's energy means; empty where the profile does not say
 * @param messageTimeout the cluster's, on which the settle window depends
 */
public record RunFacts(
    RunId id,
    String stage,
    Optional<String> model,
    Optional<String> dataset,
    String hardware,
    List<String> tags,
    String cluster,
    String scheduler,
    ArrayShape array,
    int requeues,
    Optional<String> gpuType,
    long plannedGpus,
    String plannedTres,
    Duration timeLimit,
    Rates rates,
    JsonObject estimate,
    Duration messageTimeout,
    String logs,
    List<JsonObject> points,
    Optional<Kept> kept,
    Optional<Energy> energy) {

  /**
   * Files that outlive the run.
   *
   * @param checkpoints the run's own folder in NEXA_DURABLE
   * @param days how long they are kept
   */
  public record Kept(String checkpoints, int days) {}

  private static final long MIB = 1 << 20;

  /** Read back from the run's folder. */
  public static RunFacts of(RunFolder run) {
    return of(run, run.planJson(), run.estimateJson());
  }

  /** From the documents that the folder keeps. */
  public static RunFacts of(RunFolder run, JsonObject plan, JsonObject estimate) {
    JsonObject allocation = plan.object("allocation");
    JsonObject billed = plan.object("billed");
    return new RunFacts(
        run.id(),
        plan.text("stage"),
        plan.optionalText("model"),
        plan.optionalText("dataset"),
        plan.text("hardware"),
        plan.texts("tags"),
        plan.text("cluster"),
        plan.text("scheduler"),
        ArrayShape.of(plan),
        (int) plan.number("requeues"),
        billed.optionalText("gpu_type"),
        billed.number("gpus"),
        tres(billed, allocation),
        Duration.ofSeconds(allocation.number("time_limit_seconds")),
        Rates.fromJson(estimate.object("rates")),
        estimate,
        Duration.ofSeconds(plan.number("message_timeout_seconds")),
        run.logs().toString(),
        plan.members().containsKey("points") ? plan.objects("points") : List.of(),
        kept(run.id(), plan.object("storage")),
        energy(plan.optionalObject("energy")));
  }

  private static Optional<Kept> kept(RunId id, JsonObject storage) {
    Optional<BigDecimal> days = storage.optionalDecimal("retention_days");
    return days.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Kept(storage.text("durable") + "/checkpoints/" + id, days.get().intValueExact()));
  }

  private static Optional<Energy> energy(Optional<JsonObject> kept) {
    if (kept.isEmpty()) {
      return Optional.empty();
    }
    JsonObject json = kept.get();
    Map<String, Integer> watts = new TreeMap<>();
    JsonObject gpus = json.object("gpu_watts");
    gpus.members().keySet().forEach(type -> watts.put(type, (int) gpus.number(type)));
    return Optional.of(
        new Energy(
            json.decimal("co2e_grams_per_kwh"), json.decimal("pue"), watts, json.text("source")));
  }

  /** How many tasks the run has. */
  public int tasks() {
    return array.tasks();
  }

  private static String tres(JsonObject billed, JsonObject allocation) {
    String tres =
        "cpu="
            + billed.number("cpus")
            + ",mem="
            + billed.number("memory_bytes") / MIB
            + "M,node="
            + allocation.number("nodes");
    if (billed.number("gpus") == 0) {
      return tres;
    }
    Optional<String> type = billed.optionalText("gpu_type");
    return tres
        + (type.isPresent() ? ",gres/gpu:" + type.get() : ",gres/gpu")
        + "="
        + billed.number("gpus");
  }
}
