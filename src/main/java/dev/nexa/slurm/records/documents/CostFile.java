package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.Usage;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * {@code cost_<run_id>.json}: what a run cost, line by line and attempt by attempt. No other class
 * knows its keys. The journal holds the digest of its bytes, so they change for all runs or for
 * none.
 */
public final class CostFile {
  private static final int NEWEST = 1;
  private static final String TOKENS = "api_tokens";
  private static final String UNKNOWN_TOKENS = "unknown_tokens";

  /** The parts that the project's specification has in each file, zero or not. */
  public static final Set<PricedUnit> ALWAYS = Set.of(PricedUnit.STORAGE, PricedUnit.EGRESS);

  private final JsonObject json;

  private CostFile(JsonObject json) {
    this.json = json;
  }

  /**
   * Begins a document. The other parts follow in the order of this class's methods.
   *
   * @param version 1, and one more for each correction
   * @param corrects the SHA-256 of the earlier version
   */
  public static CostFile of(
      RunId id, RunCost cost, int version, Optional<String> corrects, RunStatus status) {
    JsonObject breakdown = new JsonObject().with("compute_hours", cost.compute().amount());
    for (PricedUnit unit : PricedUnit.BESIDE) {
      CostLine line = cost.beside().get(unit);
      if (line != null || ALWAYS.contains(unit)) {
        Money amount = line == null ? Money.zero(cost.compute().currency()) : line.amount();
        breakdown.with(unit.key(), amount.amount());
      }
    }
    breakdown.withOptional(TOKENS, cost.tokens().map(Money::amount));
    return new CostFile(
        new JsonObject()
            .with("run_id", id.value())
            .with("breakdown", breakdown)
            .with("total", cost.total().amount())
            .with(SchemaVersion.KEY, NEWEST)
            .with("version", version)
            .withOptional("corrects", corrects)
            .with("currency", cost.compute().currency())
            .with("status", status.text())
            .with("not_measured", cost.notMeasured()));
  }

  /**
   * Reads a run's stored file.
   *
   * @throws java.io.UncheckedIOException if it cannot be read
   * @throws IllegalArgumentException if the text is no JSON object
   * @throws NexaException if a newer nexa-slurm wrote the file
   */
  public static CostFile read(RunFolder run) {
    return parse(DurableFiles.read(run.cost()), run.cost().toString());
  }

  /**
   * Reads the text of a stored file.
   *
   * @param file the file's name for messages
   * @throws IllegalArgumentException if the text is no JSON object
   * @throws NexaException if a newer nexa-slurm wrote the file
   */
  public static CostFile parse(String text, String file) {
    return new CostFile(SchemaVersion.parse(text, file, NEWEST));
  }

  /**
   * Returns the cost of a run for people: {@code 12.50 USD}, or {@code <0.01 USD} if only rounding
   * made it 0. The cost file is read only of a run that cost 0; if it cannot be read, the cost is
   * 0.
   */
  public static String text(RunFolder run, Money cost) {
    return cost.cell(unrounded(run, cost)) + " " + cost.currency();
  }

  /** Returns the cost of a run before rounding, as {@link #text} shows it. */
  public static BigDecimal unrounded(RunFolder run, Money cost) {
    if (cost.amount().signum() != 0) {
      return cost.amount();
    }
    try {
      return CostLine.unrounded(read(run).lines());
    } catch (RuntimeException unreadable) {
      return cost.amount();
    }
  }

  /**
   * Returns the most that a run can cost before rounding. Its estimate is read only for an amount
   * of 0; if it cannot be read, the amount is 0.
   */
  public static BigDecimal unroundedMost(RunFolder run, BigDecimal most) {
    if (most.signum() != 0) {
      return most;
    }
    try {
      return CostLine.unrounded(ProvenFiles.of(run).estimate().lines());
    } catch (RuntimeException unreadable) {
      return most;
    }
  }

  /**
   * Checks that a stored file may be replaced.
   *
   * @throws NexaException if a newer nexa-slurm wrote the file
   */
  public static void requireReplaceable(String text, String file) {
    SchemaVersion.requireReplaceable(text, file, NEWEST);
  }

  /**
   * Adds the estimate.
   *
   * @param reserved the reservation with the reservations of reruns
   */
  public CostFile estimate(EstimateFile estimate, Money reserved) {
    json.with(
        "estimate",
        new JsonObject()
            .with("config_digest", estimate.isOfImported() ? null : estimate.configDigest())
            .with("price_book", estimate.priceBook())
            .with("quote", estimate.quote().orElse(null))
            .with("promised", estimate.reserved().toPlainString())
            .with("reservation", plain(reserved))
            .with("expected", estimate.expectedSummary().orElse(null))
            .with("gpu_hours", estimate.gpuHours().toPlainString())
            .with("cpu_hours", estimate.cpuHours().toPlainString()));
    return this;
  }

  /** Adds sentences about rows that do not come from accounting. */
  public CostFile limits(List<String> limits) {
    json.withUnlessEmpty("limits", limits);
    return this;
  }

  /**
   * Adds the difference between cost and reservation.
   *
   * @param parts the difference's parts by name; empty if nothing was reserved by attempt
   */
  public CostFile difference(Money difference, Optional<Map<String, Money>> parts) {
    json.with("difference", plain(difference))
        .with("difference_parts", parts.isPresent() ? amounts(parts.get()) : null);
    return this;
  }

  /**
   * Adds the money that was spent without a result.
   *
   * @param failures the cost of attempts by end state
   * @param idleGpus the cost of idle GPUs; empty if unknown
   */
  public CostFile waste(Money total, Map<JobState, Money> failures, Optional<Money> idleGpus) {
    JsonObject waste = new JsonObject();
    failures.forEach(
        (state, money) -> waste.with(state.name().toLowerCase(Locale.ROOT), plain(money)));
    json.with("wasted", plain(total))
        .with("waste", waste.with("idle_gpus", idleGpus.map(CostFile::plain).orElse(null)));
    return this;
  }

  /**
   * Adds the credit, and the cost without it.
   *
   * @param states the states whose attempts the cluster pays for
   */
  public CostFile credit(Money credit, Set<JobState> states) {
    List<String> names = states.stream().map(state -> state.name()).toList();
    json.with("credit", new JsonObject().with("amount", plain(credit)).with("states", names))
        .with("net", plain(total().minus(credit)));
    return this;
  }

  /** Adds the energy of the attempts. */
  public CostFile energy(Optional<JsonObject> energy) {
    json.with("energy", energy.orElse(null));
    return this;
  }

  /**
   * Adds the priced lines and the attempts.
   *
   * @param attempts objects of {@link #attempt}
   */
  public CostFile actual(
      Usage used, Optional<Long> durableBytes, RunCost cost, List<JsonObject> attempts) {
    json.with(
        "actual",
        new JsonObject()
            .with("gpu_hours", hours(used.gpuHours()))
            .with("cpu_hours", hours(used.cpuHours()))
            .withOptional("durable_bytes", durableBytes)
            .with("lines", CostLine.toJson(cost.lines()))
            .withOptional(UNKNOWN_TOKENS, cost.unknownTokens())
            .with("attempts", attempts));
    return this;
  }

  /**
   * Returns the object of requests whose answers never arrived.
   *
   * @param most lines for the most tokens that the API can charge for them; empty if a task reports
   *     no bound
   */
  public static JsonObject unknownTokens(BigDecimal requests, List<CostLine> most) {
    return new JsonObject().with("requests", requests).with("at_most", CostLine.toJson(most));
  }

  /**
   * Returns the object of a row that held an allocation.
   *
   * @param gpus the number of GPUs by type
   * @param requested whether the GPUs are the plan's, because accounting has none
   * @param cost the cost before rounding to cents
   */
  public static JsonObject attempt(
      AccountingRecord row,
      long cpus,
      long memoryBytes,
      JsonObject gpus,
      boolean requested,
      String cost) {
    String word = row.witness().name().toLowerCase(Locale.ROOT);
    boolean accounted = row.witness() == AccountingRecord.Witness.ACCOUNTING;
    AccountingRecord.More more = row.more();
    return new JsonObject()
        .with("task", row.tasks().indices().get(0))
        .with("cluster", row.cluster())
        .with("job_id", row.rawJobId())
        .with("array_job_id", row.arrayJobId())
        .with("name", row.name())
        .with("user", row.user().isEmpty() ? null : row.user())
        .with("account", row.account().isEmpty() ? null : row.account())
        .with("partition", row.partition().isEmpty() ? null : row.partition())
        .with("state", accounted ? row.rawState() : row.state().name())
        .with("exit_code", row.exitCode())
        .with("submit", row.submit())
        .withOptional("start", row.start())
        .withOptional("end", row.end())
        .with("elapsed_seconds", row.elapsedSeconds())
        .with("nodes", row.nodes())
        .with("cpus", cpus)
        .with("memory_bytes", memoryBytes)
        .with("gpus", gpus)
        .with("gpus_from", requested ? "request" : word)
        .with("cost", cost)
        .with("witness", word)
        .withOptional("planned_seconds", more.plannedSeconds())
        .withOptional("restart", more.restarts());
  }

  private static JsonObject amounts(Map<String, Money> parts) {
    JsonObject json = new JsonObject();
    parts.forEach((name, money) -> json.with(name, plain(money)));
    return json;
  }

  private static String plain(Money money) {
    return money.amount().toPlainString();
  }

  private static String hours(BigDecimal hours) {
    return hours.setScale(4, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** Returns the document itself. */
  public JsonObject json() {
    return json;
  }

  /** Returns the file's content. */
  public String text() {
    return Json.pretty(json);
  }

  public String runId() {
    return json.text("run_id");
  }

  /** Returns the sentences about what the file lacks; empty if it lacks nothing. */
  public List<String> limits() {
    return json.members().containsKey("limits") ? json.texts("limits") : List.of();
  }

  /** Returns 1, and one more after each rerun or correction. */
  public long version() {
    return json.number("version");
  }

  /** Returns the status; {@link RunStatus#RUNNING} for an unknown word. */
  public RunStatus status() {
    return RunStatus.of(json);
  }

  public String currency() {
    return json.text("currency");
  }

  /** Returns the cost by the price book. */
  public Money total() {
    return new Money(json.decimal("total"), currency());
  }

  /** Returns the cost of what an estimate reserves: the attempts, and the tokens of a paid API. */
  public Money ofReserved() {
    JsonObject breakdown = json.object("breakdown");
    BigDecimal tokens = breakdown.optionalDecimal(TOKENS).orElse(BigDecimal.ZERO);
    return new Money(breakdown.decimal("compute_hours").add(tokens), currency());
  }

  /** Returns the cost of the tokens of a paid API; empty if the run may not use one. */
  public Optional<Money> tokens() {
    return json.object("breakdown")
        .optionalDecimal(TOKENS)
        .map(amount -> new Money(amount, currency()));
  }

  /** Returns the priced lines of the tokens that the tasks reported; empty if there are none. */
  public List<CostLine> tokenLines() {
    return lines().stream().filter(line -> line.what().startsWith(TOKENS + ":")).toList();
  }

  /** Returns how many requests were sent to a paid API whose answers never arrived. */
  public long unknownRequests() {
    return unknown().map(requests -> requests.number("requests")).orElse(0L);
  }

  /** Returns lines for the most tokens of {@link #unknownRequests}; empty if no bound is known. */
  public List<CostLine> unknownTokenLines() {
    return unknown()
        .map(requests -> CostLine.fromJson(requests.objects("at_most"), currency()))
        .orElse(List.of());
  }

  private Optional<JsonObject> unknown() {
    return json.object("actual").optionalObject(UNKNOWN_TOKENS);
  }

  /** Returns whether the run paid, or may have paid, for tokens that its cost does not have. */
  public boolean lacksTokens() {
    return json.texts("not_measured").contains(TOKENS);
  }

  /** Returns whether the job was imported: it had no config and nothing was reserved. */
  public boolean isOfImported() {
    return json.object("estimate").optionalText("config_digest").isEmpty();
  }

  /** Returns the reservation with the reservations of reruns. */
  public Money reservation() {
    return money(json.object("estimate").text("reservation"));
  }

  /** Returns the name of the price book. */
  public String priceBook() {
    return json.object("estimate").object("price_book").text("name");
  }

  /** Returns the money that was spent without a result. */
  public Money wasted() {
    return money(json.text("wasted"));
  }

  /** Returns the credit, as a positive amount. */
  public Money credit() {
    return money(json.object("credit").text("amount"));
  }

  /** Returns the states whose attempts the cluster pays for. */
  public Set<JobState> credited() {
    Set<JobState> credited = EnumSet.noneOf(JobState.class);
    json.object("credit").texts("states").forEach(state -> credited.add(JobState.parse(state)));
    return credited;
  }

  /** Returns the bytes of the run's durable files; empty if they were not measured. */
  public Optional<Long> durableBytes() {
    return json.object("actual").optionalNumber("durable_bytes");
  }

  /** Returns the priced lines. */
  public List<CostLine> lines() {
    return CostLine.fromJson(json.object("actual").objects("lines"), currency());
  }

  /** Returns the number of attempts. */
  public int attemptCount() {
    return json.object("actual").objects("attempts").size();
  }

  /** Returns the attempts, in the order of their tasks and starts. */
  public List<Attempt> attempts() {
    return json.object("actual").objects("attempts").stream().map(Attempt::of).toList();
  }

  /**
   * Returns the document as versions before {@code difference_parts} and before {@code
   * unknown_tokens} wrote it, if {@code kept} is of such a version. An audit does not report
   * members that they did not know.
   */
  public JsonObject comparableTo(CostFile kept) {
    JsonObject all = json;
    if (!kept.json.object("actual").members().containsKey(UNKNOWN_TOKENS)) {
      all = json.without().with("actual", json.object("actual").without(UNKNOWN_TOKENS));
    }
    if (kept.json.members().containsKey("difference_parts")) {
      return all;
    }
    return all.without("difference_parts")
        .with("estimate", json.object("estimate").without("quote", "promised"));
  }

  private Money money(String amount) {
    return new Money(new BigDecimal(amount), currency());
  }

  /**
   * One attempt of one task.
   *
   * @param task the task's number
   * @param jobId Slurm's own id of the task
   * @param arrayJobId the id of the array
   * @param state the state as accounting printed it
   * @param exitCode as accounting printed it: {@code 0:0}
   * @param elapsedSeconds seconds as Slurm counts them
   * @param amount cost with six decimals; only the run's lines are rounded to cents, because
   *     rounded attempts would not add up to them
   */
  public record Attempt(
      long task,
      long jobId,
      long arrayJobId,
      Payer payer,
      String state,
      String exitCode,
      Optional<Instant> submit,
      Optional<Instant> start,
      long elapsedSeconds,
      Held held,
      BigDecimal amount) {
    /** The payer of the attempt, as far as accounting says it. */
    public record Payer(
        Optional<String> user, Optional<String> account, Optional<String> partition) {}

    /**
     * The resources that the attempt held.
     *
     * @param nodes the node list; empty if unknown
     * @param gpus the number of GPUs by type
     * @param memoryBytes over all nodes; 0 if unknown
     */
    public record Held(String nodes, long cpus, Map<String, Long> gpus, long memoryBytes) {
      /** Returns the number of GPUs of all types. */
      public long gpuCount() {
        return Tres.sum(gpus);
      }
    }

    private static Attempt of(JsonObject json) {
      JsonObject held = json.optionalObject("gpus").orElseGet(JsonObject::new);
      Map<String, Long> gpus = new LinkedHashMap<>();
      held.members().keySet().forEach(type -> gpus.put(type, held.number(type)));
      return new Attempt(
          json.number("task"),
          json.number("job_id"),
          json.number("array_job_id"),
          new Payer(
              json.optionalText("user"),
              json.optionalText("account"),
              json.optionalText("partition")),
          json.text("state"),
          json.text("exit_code"),
          json.optionalInstant("submit"),
          json.optionalInstant("start"),
          json.number("elapsed_seconds"),
          new Held(
              json.optionalText("nodes").orElse(""),
              json.optionalNumber("cpus").orElse(0L),
              gpus,
              json.optionalNumber("memory_bytes").orElse(0L)),
          new BigDecimal(json.text("cost")));
    }
  }
}
