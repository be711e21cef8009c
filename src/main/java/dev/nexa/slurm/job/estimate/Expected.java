package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.plan.Plan;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The expected cost of a run.
 *
 * @param method how it was estimated
 * @param total the most likely cost; from past runs the P50
 * @param low the lower end; from past runs the P50
 * @param high the upper end; from past runs the P90
 * @param unroundedTotal {@code total} before rounding
 * @param unroundedHigh {@code high} before rounding
 * @param gpuHours of all tasks, at {@code total}
 * @param runSeconds how long one task holds its allocation, at {@code total}
 * @param highSeconds how long one task holds its allocation, at {@code high}
 * @param basis the basis of the estimate, one sentence
 * @param runs the ids of the past runs behind it; empty for another method
 * @param tooShort a warning if the time limit is probably too short; else empty
 */
public record Expected(
    Method method,
    Money total,
    Money low,
    Money high,
    BigDecimal unroundedTotal,
    BigDecimal unroundedHigh,
    BigDecimal gpuHours,
    long runSeconds,
    long highSeconds,
    String basis,
    List<String> runs,
    Optional<LimitTooShort> tooShort) {

  /** How an expected cost was estimated: by the config, by past runs, or from FLOPs. */
  public enum Method {
    CONFIG,
    HISTORY,
    ANALYTIC;

    /** Returns the word in estimate.json. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns the expected cost by past runs. The history must have enough runs. */
  static Expected of(RunsLikeThis history, Plan plan, Estimate estimate) {
    List<String> runs = history.runs().stream().map(PastRun::runId).toList();
    String basis = "P50 and P90 of " + runs.size() + " past runs of the same " + history.likeness();
    long likely = history.secondsP50();
    long high = history.secondsP90();
    return of(Method.HISTORY, plan, estimate, likely, likely, high, basis, runs);
  }

  /**
   * Returns the expected cost by the duration of a task, all its attempts together. The time limit
   * ends each attempt, so the seconds, the GPU-hours and the amounts stop there, and no amount
   * exceeds the reservation.
   *
   * @param low seconds that a task hardly stays below
   * @param likely the most likely seconds
   * @param high seconds that a task hardly exceeds
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
    long end = plan.allocation().timeLimit().toSeconds() * plan.attempts();
    Usage usage = held(plan, estimate, Math.min(likely, end));
    Usage longest = held(plan, estimate, Math.min(high, end));
    return new Expected(
        method,
        price(estimate, usage),
        price(estimate, held(plan, estimate, Math.min(low, end))),
        price(estimate, longest),
        unrounded(estimate, usage),
        unrounded(estimate, longest),
        usage.gpuHours().setScale(4, RoundingMode.HALF_EVEN),
        Math.min(likely, end),
        Math.min(high, end),
        estimate.apiTokens().isPresent() ? basis + ", and all API tokens that it may use" : basis,
        runs,
        LimitTooShort.of(plan, method, likely, high));
  }

  /**
   * Returns the expected cost by the GPU-hours of the whole run.
   *
   * @param low GPU-hours that the run hardly stays below
   * @param likely the most likely GPU-hours
   * @param high GPU-hours that the run hardly exceeds
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

  private static Usage held(Plan plan, Estimate estimate, long seconds) {
    return Estimate.held(plan, estimate.rates(), seconds, plan.tasks());
  }

  private static BigDecimal unrounded(Estimate estimate, Usage usage) {
    return estimate.rates().unrounded(usage).add(estimate.tokensCost().amount());
  }

  /** Returns {@link #total} for people: {@code less than 0.01 USD} for a small sum. */
  public String totalWords() {
    return total.words(unroundedTotal);
  }

  /** Returns {@link #high}; the next amount above a sum that is 0 only because of rounding. */
  public Money highBound() {
    return high.upTo(unroundedHigh);
  }

  /** Returns the seconds that a task needs, also beyond its time limit. */
  public long neededSeconds() {
    return tooShort.isPresent() ? tooShort.get().likelySeconds() : runSeconds;
  }

  /** Returns {@code low} as a share of {@code total}: 1 if both are the same, or nothing. */
  public double lowShare() {
    return total.amount().signum() == 0
        ? 1
        : low.amount().divide(total.amount(), MathContext.DECIMAL64).doubleValue();
  }

  /** Returns the seconds that a task hardly exceeds, also beyond its time limit. */
  public long neededHighSeconds() {
    return tooShort.isPresent() ? tooShort.get().highSeconds() : highSeconds;
  }

  /**
   * Returns the price of a usage and of all API tokens that the run may use, at most the
   * reservation: Slurm ends the run before it costs more. It is not known before how many of its
   * tokens the run needs.
   */
  private static Money price(Estimate estimate, Usage usage) {
    Money price = estimate.rates().total(estimate.rates().price(usage)).plus(estimate.tokensCost());
    return price.compareTo(estimate.total()) > 0 ? estimate.total() : price;
  }

  /** Returns the key {@code expected} of estimate.json. */
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
    return json.with("gpu_hours", gpuHours.toPlainString())
        .with("run_seconds", runSeconds)
        .with("basis", basis)
        .with("runs", runs)
        .with("similar", runs.size())
        .withOptional("limit_too_short", tooShort.map(LimitTooShort::toJson));
  }
}
