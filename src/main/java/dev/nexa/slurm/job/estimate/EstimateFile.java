package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.plan.AttemptSize;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * {@code estimate.json}, and {@code estimates/<digest>.json}: a run's reservation, its expected
 * cost and the rates that it is settled at. No other class knows its keys. An approver signs parts
 * of it, so its bytes change for all runs or for none.
 *
 * @param json the document itself; changes of it change this estimate
 */
public record EstimateFile(JsonObject json) {
  private static final int NEWEST = 1;

  /** Returns the document of an estimate without an expected cost. */
  public static EstimateFile of(Estimate estimate, boolean approvalNeeded) {
    Rates rates = estimate.rates();
    JsonObject json =
        new JsonObject()
            .with(SchemaVersion.KEY, NEWEST)
            .with("config_digest", estimate.configDigest())
            .with("currency", rates.currency())
            .with("price_book", book(rates))
            .with("tasks", estimate.tasks())
            .with("attempts", estimate.attempts())
            .with("time_limit_seconds", estimate.timeLimitSeconds())
            .with("longest_attempt_seconds", estimate.longestAttemptSeconds())
            .with("gpu_hours", fixed(estimate.usage().gpuHours()))
            .with("cpu_hours", fixed(estimate.usage().cpuHours()))
            .with(
                "reservation",
                new JsonObject()
                    .with("total", estimate.total().amount().toPlainString())
                    .with("lines", CostLine.toJson(estimate.reservation())))
            .with("expected", null)
            .with("memory", null)
            .with("analytic", null)
            .with("approval_needed", approvalNeeded)
            .with("rates", rates.toJson());
    if (estimate.apiTokens().isPresent()) {
      ApiTokens tokens = estimate.apiTokens().get();
      json.with(
          "api_tokens",
          new JsonObject()
              .with("model", tokens.model())
              .with("max_input", tokens.input())
              .with("max_output", tokens.output())
              .with("cost", estimate.tokensCost().amount().toPlainString()));
    }
    return new EstimateFile(json);
  }

  /** Returns the document of a job that was submitted without nexa-slurm and reserved nothing. */
  public static EstimateFile ofImported(Rates rates) {
    return new EstimateFile(
        new JsonObject()
            .with("config_digest", null)
            .with("price_book", book(rates))
            .with("reservation", new JsonObject().with("total", "0"))
            .with("gpu_hours", "0")
            .with("cpu_hours", "0"));
  }

  /**
   * Reads a stored file.
   *
   * @param file the file's name for messages
   * @throws IllegalArgumentException if the text is no JSON object
   * @throws NexaException if a newer nexa-slurm wrote the file
   */
  public static EstimateFile parse(String text, String file) {
    return new EstimateFile(SchemaVersion.parse(text, file, NEWEST));
  }

  private static JsonObject book(Rates rates) {
    return new JsonObject()
        .with("name", rates.book())
        .with("as_of", rates.asOf())
        .with("digest", rates.digest());
  }

  private static String fixed(BigDecimal hours) {
    return hours.setScale(4, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** Adds the expected cost, and how accurate such estimates were. */
  public EstimateFile outlook(Outlook outlook) {
    json.with("expected", outlook.expected().isPresent() ? outlook.expected().get().toJson() : null)
        .withOptional("expected_unknown", outlook.unknown())
        .with(
            "accuracy", outlook.accuracy().isPresent() ? outlook.accuracy().get().toJson() : null);
    if (outlook.data().known()) {
      json.with("data", outlook.data().toJson());
    }
    return this;
  }

  /** Adds the memory that the run's model needs on each GPU. */
  public EstimateFile memory(JsonObject memory) {
    json.with("memory", memory);
    return this;
  }

  /** Adds the GPU-hours that follow from the model's FLOPs. */
  public EstimateFile analytic(JsonObject analytic) {
    json.with("analytic", analytic);
    return this;
  }

  /** Adds what the run sends out of the cluster at most, which is not reserved. */
  public EstimateFile egress(Egress egress, Rates rates) {
    json.with("egress", egress.toJson(rates));
    return this;
  }

  /** Adds the partition and the reason for it. */
  public EstimateFile partition(Optional<String> partition, Optional<String> reason) {
    json.with("partition", partition.orElse(null)).with("partition_reason", reason.orElse(null));
    return this;
  }

  /** Adds the members that an approver reads or signs. */
  public EstimateFile signed(
      String config,
      List<String> tags,
      JsonObject whatRuns,
      JsonObject limits,
      JsonObject submitter) {
    json.with("config", config)
        .with("tags", tags)
        .with("what_runs", whatRuns)
        .with("limits", limits)
        .with("submitter", submitter)
        .with("quote", null);
    return this;
  }

  /** Adds the approval that fixes the run's rates. */
  public EstimateFile quote(JsonObject quote) {
    json.with("quote", quote);
    return this;
  }

  /** Adds the amounts that the run takes from budgets. */
  public EstimateFile budgets(List<JsonObject> claims) {
    json.with("budgets", claims);
    return this;
  }

  /** Returns whether this is the estimate of an imported job, which has no plan. */
  public boolean isOfImported() {
    return json.optionalText("config_digest").isEmpty();
  }

  /** Returns the plan's digest. */
  public String configDigest() {
    return json.text("config_digest");
  }

  /** Returns the config's path as {@code submit} was given it. */
  public String config() {
    return json.text("config");
  }

  /** Returns the run's tags; none if an older nexa-slurm wrote the file. */
  public List<String> tags() {
    return json.members().get("tags") == null ? List.of() : json.texts("tags");
  }

  public String currency() {
    return json.text("currency");
  }

  /** Returns the reservation's amount. */
  public BigDecimal reserved() {
    return new BigDecimal(json.object("reservation").text("total"));
  }

  /** Returns the reservation. */
  public Money reservation() {
    return new Money(reserved(), currency());
  }

  /** Returns the priced lines of the reservation. */
  public List<CostLine> lines() {
    return CostLine.fromJson(json.object("reservation").objects("lines"), currency());
  }

  /** Returns the rates that the run is settled at. */
  public Rates rates() {
    return Rates.fromJson(json.object("rates"));
  }

  /** Returns name, date and digest of the price book. */
  public JsonObject priceBook() {
    return json.object("price_book");
  }

  /** Returns the approval that fixed the rates; empty if the run needed none. */
  public Optional<JsonObject> quote() {
    return json.optionalObject("quote");
  }

  /** Returns the most tokens of a paid API that the run may use; empty if it uses none. */
  public Optional<ApiTokens> apiTokens() {
    Optional<JsonObject> tokens = json.optionalObject("api_tokens");
    return tokens.isPresent()
        ? Optional.of(
            new ApiTokens(
                tokens.get().text("model"),
                tokens.get().decimal("max_input"),
                tokens.get().decimal("max_output")))
        : Optional.empty();
  }

  /** Returns the part of {@link #reserved} for the tokens of a paid API; zero if it has none. */
  public BigDecimal reservedTokens() {
    Optional<JsonObject> tokens = json.optionalObject("api_tokens");
    return tokens.isPresent() ? new BigDecimal(tokens.get().text("cost")) : BigDecimal.ZERO;
  }

  public BigDecimal gpuHours() {
    return new BigDecimal(json.text("gpu_hours"));
  }

  public BigDecimal cpuHours() {
    return new BigDecimal(json.text("cpu_hours"));
  }

  /** Returns the most attempts of a task; empty if the estimate reserves nothing by attempt. */
  public Optional<Long> attempts() {
    return json.optionalNumber("attempts");
  }

  /** Returns the longest time of one attempt; empty if the estimate reserves nothing by attempt. */
  public Optional<Long> longestAttemptSeconds() {
    return json.optionalNumber("longest_attempt_seconds");
  }

  /** Returns the expected cost; empty if it is unknown. */
  public Optional<BigDecimal> expected() {
    Object expected = json.members().get("expected");
    if (expected instanceof JsonObject object) {
      expected = object.members().get("total");
    }
    // Estimates of early versions have the amount itself.
    return expected instanceof String || expected instanceof BigDecimal
        ? Optional.of(new BigDecimal(expected.toString()))
        : Optional.empty();
  }

  /**
   * Returns the method of the expected cost: {@code history}, {@code analytic} or {@code config}.
   */
  public Optional<String> expectedMethod() {
    Optional<JsonObject> expected = json.optionalObject("expected");
    return expected.isPresent() ? expected.get().optionalText("method") : Optional.empty();
  }

  /** Returns the expected cost without the list of runs that it was computed from. */
  public Optional<JsonObject> expectedSummary() {
    Optional<JsonObject> expected = json.optionalObject("expected");
    if (expected.isEmpty()) {
      return Optional.empty();
    }
    JsonObject kept = new JsonObject();
    for (String member : List.of("method", "total", "low", "high", "basis", "similar")) {
      if (expected.get().members().containsKey(member)) {
        kept.with(member, expected.get().members().get(member));
      }
    }
    return Optional.of(kept);
  }

  /** Returns the amount of data that the run processes. */
  public DataSize data() {
    return DataSize.fromJson(json.optionalObject("data"));
  }

  /** Returns the FLOPs of the run's model; empty if they are unknown. */
  public Optional<Double> flops() {
    return analytic("flops");
  }

  /** Returns the peak FLOP/s of a GPU; empty if the model's FLOPs are unknown. */
  public Optional<Double> peakFlops() {
    return analytic("peak_flops");
  }

  private Optional<Double> analytic(String key) {
    Optional<JsonObject> analytic = json.optionalObject("analytic");
    return analytic.isPresent()
        ? Optional.of(new BigDecimal(analytic.get().text(key)).doubleValue())
        : Optional.empty();
  }

  /**
   * Returns what an approver must know first: that the model does not fit, or that the run cannot
   * finish in time.
   */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    Optional<JsonObject> memory = json.optionalObject("memory");
    if (memory.isPresent() && Boolean.FALSE.equals(memory.get().members().get("fits"))) {
      warnings.add("memory of a GPU: " + memory.get().text("sentence"));
    }
    Optional<JsonObject> expected = json.optionalObject("expected");
    if (expected.isPresent() && expected.get().optionalObject("limit_too_short").isPresent()) {
      warnings.add("the run " + expected.get().object("limit_too_short").text("sentence"));
    }
    return warnings;
  }

  /** Returns the digests of script, options and files that an approver signs. */
  public JsonObject whatRuns() {
    return json.object("what_runs");
  }

  /** Returns the options that affect cost or rights, which an approver signs. */
  public JsonObject limits() {
    return json.object("limits");
  }

  /** Returns the user who asks for the run, as approvals store users. */
  public JsonObject submitter() {
    return json.object("submitter");
  }

  /**
   * Computes the reservation from the limits and rates. An approver compares it with {@link
   * #reserved}.
   *
   * @throws IllegalArgumentException if the tasks, attempts or times contradict the limits
   * @throws ArithmeticException if the usage exceeds a long
   */
  public Estimate ofLimits() {
    JsonObject limits = limits();
    long count = limits.number("gpus");
    Map<String, Long> gpus =
        count == 0 ? Map.of() : Map.of(limits.optionalText("gpu_type").orElse("unknown"), count);
    for (String limit : List.of("tasks", "attempts", "time_limit_seconds")) {
      if (json.number(limit) != limits.number(limit)) {
        throw new IllegalArgumentException(
            "its " + limit + " is " + json.number(limit) + ", in limits " + limits.number(limit));
      }
    }
    long seconds = json.number("longest_attempt_seconds");
    List<AttemptSize> grown =
        limits.members().containsKey(AttemptSize.KEY) ? AttemptSize.of(limits) : List.of();
    long longest = Estimate.longest(grown, limits.number("time_limit_seconds"));
    if (seconds < longest) {
      throw new IllegalArgumentException("longest_attempt_seconds is less than its time limit");
    }
    int tasks = Math.toIntExact(limits.number("tasks"));
    int attempts = Math.toIntExact(limits.number("attempts"));
    Rates rates = rates();
    long limit = json.number("time_limit_seconds");
    long nodes = limits.number("nodes");
    long times = (long) tasks * attempts / (grown.size() + 1);
    Usage usage =
        rates
            .usage(
                gpus,
                limits.number("cpus"),
                limits.number("memory_bytes"),
                nodes,
                seconds - longest + limit)
            .times(times);
    if (!grown.isEmpty()) {
      usage = usage.plus(Estimate.grown(grown, rates, gpus, nodes, seconds - longest).times(times));
    }
    return Estimate.priced(
        configDigest(),
        rates,
        tasks,
        attempts,
        limit,
        seconds,
        usage,
        ApiTokens.ofApproved(limits));
  }
}
