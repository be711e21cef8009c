package dev.nexa.slurm.estimate;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a run will probably cost.
 *
 * @param total the one number; of a history the P50
 * @param low the least that is likely; of a history the P50
 * @param high the most that is likely; of a history the P90
 * @param gpuHours of all tasks, by the total
 * @param runSeconds how long one task will hold its allocation, by the total
 * @param highSeconds the same by the high end
 * @param basis how that is known, one sentence
 * @param runs the past runs that it is known from; empty where it is not from runs
 * @param tooShort that its time limit does not do; empty where it does
 */
public record Expected(
    Method method,
    Money total,
    Money low,
    Money high,
    BigDecimal gpuHours,
    long runSeconds,
    long highSeconds,
    String basis,
    List<String> runs,
    Optional<LimitTooShort> tooShort) {

  /** How it is known. */
  public enum Method {
    CONFIG("config"),
    HISTORY("history"),
    ANALYTIC("analytic");

    private final String word;

    Method(String word) {
      this.word = word;
    }

    public String word() {
      return word;
    }
  }

  /** By the runs of a history that are enough. */
  static Expected of(History history, Plan plan, Estimate estimate) {
    List<String> runs = new ArrayList<>();
    for (PastRun run : history.runs()) {
      runs.add(run.runId());
    }
    String basis = "P50 and P90 of " + runs.size() + " past runs of the same " + history.likeness();
    long likely = history.secondsP50();
    long high = history.secondsP90();
    return of(Method.HISTORY, plan, estimate, likely, likely, high, basis, runs);
  }

  /**
   * By how long a task takes.
   *
   * @param low seconds that one task hardly stays below
   * @param likely seconds that one task probably holds its allocation, all attempts together
   * @param high seconds that it hardly exceeds
   */
  public static Expected of(
      Method method,
      Plan plan,
      Estimate estimate,
      long low,
      long likely,
      long high,
      String basis,
      List<String> runs) {
    Usage usage = Estimate.held(plan, estimate.rates(), likely, plan.tasks());
    Money total = price(estimate, usage);
    Money least = price(estimate, Estimate.held(plan, estimate.rates(), low, plan.tasks()));
    Money most = price(estimate, Estimate.held(plan, estimate.rates(), high, plan.tasks()));
    return new Expected(
        method,
        total,
        least,
        most,
        usage.gpuHours().setScale(4, RoundingMode.HALF_EVEN),
        likely,
        high,
        basis,
        runs,
        LimitTooShort.of(plan, method, likely, high));
  }

  /**
   * By GPU-hours of the whole run.
   *
   * @param high that it hardly exceeds
   */
  public static Expected ofGpuHours(
      Method method,
      Plan plan,
      Estimate estimate,
      double low,
      double likely,
      double high,
      String basis) {
    double seconds = 3600.0 / plan.billed().gpus() / plan.tasks();
    return of(
        method,
        plan,
        estimate,
        (long) Math.ceil(low * seconds),
        (long) Math.ceil(likely * seconds),
        (long) Math.ceil(high * seconds),
        basis,
        List.of());
  }

  /** What it costs to hold that; Slurm ends it before it costs more than the reservation. */
  private static Money price(Estimate estimate, Usage usage) {
    Money price = estimate.rates().total(estimate.rates().price(usage));
    return price.compareTo(estimate.total()) > 0 ? estimate.total() : price;
  }

  /** As estimate.json keeps it. */
  public JsonObject toJson() {
    JsonObject json =
        new JsonObject()
            .with("method", method.word())
            .with("total", total.amount().toPlainString())
            .with("low", low.amount().toPlainString())
            .with("high", high.amount().toPlainString());
    if (method == Method.HISTORY) {
      json.with("p50", low.amount().toPlainString()).with("p90", high.amount().toPlainString());
    }
    json.with("gpu_hours", gpuHours.toPlainString())
        .with("run_seconds", runSeconds)
        .with("basis", basis)
        .with("runs", runs)
        .with("similar", runs.size());
    return tooShort.isPresent() ? json.with("limit_too_short", tooShort.get().toJson()) : json;
  }
}
