package dev.nexa.slurm.estimate;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.units.Money;
import java.util.List;
import java.util.Map;

/**
 * What a plan can cost at most: {@code tasks x attempts x (time limit + OverTimeLimit + KillWait +
 * 60 s) x TRES}. What it will probably cost (history, FLOPs) stands beside it once there is
 * something to judge by.
 *
 * @param configDigest digest of the plan
 * @param tasks array tasks
 * @param attempts of a task: 1 + the requeues allowed, for each link of a chain
 * @param timeLimitSeconds of one attempt
 * @param longestAttemptSeconds what one attempt can hold its allocation for
 * @param usage everything added up
 * @param reservation the priced lines
 * @param total their sum, which an approval covers
 */
public record Estimate(
    String configDigest,
    Rates rates,
    int tasks,
    int attempts,
    long timeLimitSeconds,
    long longestAttemptSeconds,
    Usage usage,
    List<CostLine> reservation,
    Money total) {

  /** The reservation of a plan at given rates. */
  public static Estimate of(Plan plan, Rates rates) {
    long seconds = plan.longestAttempt().toSeconds();
    int attempts = plan.attempts();
    Usage usage = held(plan, rates, seconds, (long) plan.tasks() * attempts);
    long limit = plan.allocation().timeLimit().toSeconds();
    return priced(plan.digest(), rates, plan.tasks(), attempts, limit, seconds, usage);
  }

  /**
   * The reservation of so many tasks of a run that was estimated before, at the rates of then.
   *
   * @param plan as plan.json keeps it
   * @param before as estimate.json keeps it
   * @param links of its chain that are made again
   */
  public static Estimate again(JsonObject plan, JsonObject before, int tasks, int links) {
    JsonObject billed = plan.object("billed");
    long count = billed.number("gpus");
    Map<String, Long> gpus =
        count == 0 ? Map.of() : Map.of(billed.optionalText("gpu_type").orElse("unknown"), count);
    int attempts = links * (1 + (int) plan.number("requeues"));
    long seconds = before.number("longest_attempt_seconds");
    Rates rates = Rates.fromJson(before.object("rates"));
    long nodes = plan.object("allocation").number("nodes");
    Usage usage =
        rates
            .usage(gpus, billed.number("cpus"), billed.number("memory_bytes"), nodes, seconds)
            .times((long) tasks * attempts);
    return priced(
        before.text("config_digest"),
        rates,
        tasks,
        attempts,
        before.number("time_limit_seconds"),
        seconds,
        usage);
  }

  /**
   * What an estimate's own limits and rates come to: an approver holds its total against it.
   *
   * @param estimate as estimate.json keeps it, with {@code limits}
   */
  public static Estimate ofLimits(JsonObject estimate) {
    JsonObject limits = estimate.object("limits");
    long count = limits.number("gpus");
    Map<String, Long> gpus =
        count == 0 ? Map.of() : Map.of(limits.optionalText("gpu_type").orElse("unknown"), count);
    long seconds = estimate.number("longest_attempt_seconds");
    int tasks = (int) estimate.number("tasks");
    int attempts = (int) estimate.number("attempts");
    Rates rates = Rates.fromJson(estimate.object("rates"));
    Usage usage =
        rates
            .usage(
                gpus,
                limits.number("cpus"),
                limits.number("memory_bytes"),
                limits.number("nodes"),
                seconds)
            .times((long) tasks * attempts);
    return priced(
        estimate.text("config_digest"),
        rates,
        tasks,
        attempts,
        estimate.number("time_limit_seconds"),
        seconds,
        usage);
  }

  /** The same usage at other rates: those that an approval has pinned. */
  public Estimate at(Rates other) {
    return priced(
        configDigest, other, tasks, attempts, timeLimitSeconds, longestAttemptSeconds, usage);
  }

  private static Estimate priced(
      String digest, Rates rates, int tasks, int attempts, long limit, long longest, Usage usage) {
    List<CostLine> lines = rates.price(usage);
    return new Estimate(
        digest, rates, tasks, attempts, limit, longest, usage, lines, rates.total(lines));
  }

  /** What so many tasks use that each hold their allocation for that long. */
  static Usage held(Plan plan, Rates rates, long seconds, long times) {
    Map<String, Long> gpus =
        plan.billed().gpus() == 0
            ? Map.of()
            : Map.of(plan.billed().gpuType().orElse("unknown"), (long) plan.billed().gpus());
    try {
      int nodes = plan.allocation().nodes();
      return rates
          .usage(gpus, plan.billed().cpus(), plan.billed().memoryBytes(), nodes, seconds)
          .times(times);
    } catch (ArithmeticException tooMuch) {
      throw new NexaException(
          ExitCode.USAGE,
          plan.config() + ": this asks for more than can be counted",
          tooMuch,
          "ask for fewer tasks, nodes or requeues, or a shorter time");
    }
  }

  /** The estimate as estimate.json keeps it and {@code --json} prints it. */
  public JsonObject toJson(boolean approvalNeeded) {
    return new JsonObject()
        .with("schema_version", 1)
        .with("config_digest", configDigest)
        .with("currency", rates.currency())
        .with(
            "price_book",
            new JsonObject()
                .with("name", rates.book())
                .with("as_of", rates.asOf())
                .with("digest", rates.digest()))
        .with("tasks", tasks)
        .with("attempts", attempts)
        .with("time_limit_seconds", timeLimitSeconds)
        .with("longest_attempt_seconds", longestAttemptSeconds)
        .with("gpu_hours", fixed(usage.gpuHours()))
        .with("cpu_hours", fixed(usage.cpuHours()))
        .with(
            "reservation",
            new JsonObject()
                .with("total", total.amount().toPlainString())
                .with("lines", CostLine.toJson(reservation)))
        .with("expected", null)
        .with("memory", null)
        .with("analytic", null)
        .with("approval_needed", approvalNeeded)
        .with("rates", rates.toJson());
  }

  private static String fixed(java.math.BigDecimal hours) {
    return hours.setScale(4, java.math.RoundingMode.HALF_EVEN).toPlainString();
  }
}
