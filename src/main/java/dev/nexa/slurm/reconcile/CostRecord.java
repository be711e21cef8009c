package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.estimate.CostLine;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.Tres;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code cost_<run_id>.json}: the seeds' keys, and beside them every line and every attempt, so
 * that each cent can be traced to an sacct row. Pure.
 */
public final class CostRecord {
  private static final long HOUR = 3600;
  private static final int DECIMALS = 6;

  /**
   * Figures of an attempt that are there only where the profile says that they can be asked for.
   */
  static final Set<String> ASKED_FOR = Set.of("planned_seconds", "restart");

  private CostRecord() {}

  /**
   * What the run has cost so far: its closed attempts at the rates it was estimated with, what it
   * keeps, and what it sent out.
   */
  public static Money total(RunFacts facts, RunState journal, RunOutcome outcome, Results results) {
    Rates rates = facts.rates();
    Money compute = rates.total(rates.price(outcome.used()));
    return compute
        .plus(amount(storage(facts, journal), rates))
        .plus(amount(egress(facts, outcome, results), rates));
  }

  private static Money amount(Optional<CostLine> line, Rates rates) {
    return line.isPresent() ? line.get().amount() : Money.zero(rates.currency());
  }

  /** Its durable files for as long as they are kept; empty where one or the other is not known. */
  private static Optional<CostLine> storage(RunFacts facts, RunState journal) {
    if (facts.kept().isEmpty() || journal.durableBytes().isEmpty()) {
      return Optional.empty();
    }
    return facts.rates().storage(journal.durableBytes().get(), facts.kept().get().days());
  }

  /** What its tasks sent out, once it is over; empty where none told it or it has no price. */
  private static Optional<CostLine> egress(RunFacts facts, RunOutcome outcome, Results results) {
    Optional<BigDecimal> bytes = outcome.ended() ? results.egressBytes() : Optional.empty();
    return bytes.isPresent() ? facts.rates().egress(bytes.get()) : Optional.empty();
  }

  /**
   * The record; what reruns may cost is part of what was reserved.
   *
   * @param results whose metrics may tell how much of their GPUs the tasks used, and what they sent
   *     out
   * @param credited the states whose attempts the cluster pays for
   */
  public static JsonObject of(
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      Results results,
      Set<JobState> credited) {
    Rates rates = facts.rates();
    List<CostLine> lines = new ArrayList<>(rates.price(outcome.used()));
    Money compute = rates.total(lines);
    Optional<CostLine> storage = storage(facts, journal);
    Optional<CostLine> egress = egress(facts, outcome, results);
    Money stored = amount(storage, rates);
    Money sent = amount(egress, rates);
    Money total = compute.plus(stored).plus(sent);
    if (storage.isPresent()) {
      lines.add(storage.get());
    }
    if (egress.isPresent()) {
      lines.add(egress.get());
    }
    List<String> notMeasured = new ArrayList<>();
    if (storage.isEmpty()) {
      notMeasured.add("storage_gb_month");
    }
    if (egress.isEmpty()) {
      notMeasured.add("egress_gb");
    }
    Optional<EnergyUse> energy = EnergyUse.of(facts, outcome, results);
    Waste waste = Waste.of(facts, outcome, results);
    Money credit = rates.total(rates.price(outcome.usage(credited, facts)));
    Money reserved = reserved(facts, journal);
    Optional<Difference> parts =
        Difference.of(facts, outcome, compute, reserved, journal.reservedMore());
    List<String> states = new ArrayList<>();
    for (JobState state : credited) {
      states.add(state.name());
    }
    JsonObject record =
        new JsonObject()
            .with("run_id", facts.id().value())
            .with(
                "breakdown",
                new JsonObject()
                    .with("compute_hours", compute.amount())
                    .with("storage_gb_month", stored.amount())
                    .with("egress_gb", sent.amount()))
            .with("total", total.amount())
            .with("schema_version", 1)
            .with("version", journal.timesFinished() + 1)
            .withOptional("corrects", journal.costDigest())
            .with("currency", rates.currency())
            .with("status", outcome.status())
            .with("not_measured", notMeasured)
            .with(
                "estimate",
                new JsonObject()
                    .with(
                        "config_digest",
                        facts.estimate().optionalText("config_digest").orElse(null))
                    .with("price_book", facts.estimate().object("price_book"))
                    .with("quote", facts.estimate().optionalObject("quote").orElse(null))
                    .with("promised", facts.estimate().object("reservation").text("total"))
                    .with("reservation", reserved.amount().toPlainString())
                    .with("expected", expected(facts.estimate()))
                    .with("gpu_hours", facts.estimate().text("gpu_hours"))
                    .with("cpu_hours", facts.estimate().text("cpu_hours")));
    List<String> limits = limits(outcome);
    if (!limits.isEmpty()) {
      record.with("limits", limits);
    }
    return record
        .with("difference", compute.minus(reserved).amount().toPlainString())
        .with("difference_parts", parts.isPresent() ? parts.get().toJson() : null)
        .with("wasted", waste.total().amount().toPlainString())
        .with("waste", waste.toJson())
        .with(
            "credit",
            new JsonObject().with("amount", credit.amount().toPlainString()).with("states", states))
        .with("net", total.minus(credit).amount().toPlainString())
        .with("energy", energy.isPresent() ? energy.get().toJson(facts.energy()) : null)
        .with(
            "actual",
            new JsonObject()
                .with("gpu_hours", hours(outcome.used().gpuHours()))
                .with("cpu_hours", hours(outcome.used().cpuHours()))
                .withOptional("durable_bytes", journal.durableBytes())
                .with("lines", CostLine.toJson(lines))
                .with("attempts", attempts(facts, outcome)));
  }

  /** The most the run may cost, with its reruns. */
  private static Money reserved(RunFacts facts, RunState journal) {
    BigDecimal first = new BigDecimal(facts.estimate().object("reservation").text("total"));
    return new Money(first.add(journal.reservedMore()), facts.rates().currency());
  }

  /**
   * By how much what the run held cost more than was reserved, one sentence: Slurm let it run for
   * longer, or more often, than it says it does. Empty where it did not, and for what was submitted
   * without us, for which nothing was reserved.
   */
  static Optional<String> overrun(RunFacts facts, RunState journal, RunOutcome outcome) {
    Money compute = facts.rates().total(facts.rates().price(outcome.used()));
    Money reserved = reserved(facts, journal);
    boolean estimated = facts.estimate().optionalText("config_digest").isPresent();
    return estimated && compute.compareTo(reserved) > 0
        ? Optional.of(
            "cost "
                + compute
                + ", over its reservation of "
                + reserved
                + ": Slurm gave it more time or attempts than was planned; compare its attempts"
                + " (`nexa-slurm costs show "
                + facts.id()
                + "`) with the cluster profile's slurm: section and `scontrol show config`")
        : Optional.empty();
  }

  /** What was expected, without the runs that it was known from. */
  private static @Nullable JsonObject expected(JsonObject estimate) {
    Optional<JsonObject> expected = estimate.optionalObject("expected");
    if (expected.isEmpty()) {
      return null;
    }
    JsonObject kept = new JsonObject();
    for (String member : List.of("method", "total", "low", "high", "basis", "similar")) {
      if (expected.get().members().containsKey(member)) {
        kept.with(member, expected.get().members().get(member));
      }
    }
    return kept;
  }

  /** Each row that held an allocation, with its part of the money before any rounding. */
  private static List<JsonObject> attempts(RunFacts facts, RunOutcome outcome) {
    Map<String, Held> known = new HashMap<>();
    List<JsonObject> attempts = new ArrayList<>(outcome.attempts().size());
    for (AccountingRecord row : outcome.attempts()) {
      Held held = known.get(row.allocTres());
      if (held == null) {
        held = Held.of(row.allocTres(), facts);
        known.put(row.allocTres(), held);
      }
      attempts.add(attempt(row, held));
    }
    return attempts;
  }

  /**
   * What thousands of attempts may hold alike.
   *
   * @param fromRequest whether accounting does not tell of GPUs, so that the plan's are taken
   * @param perHour what holding it for an hour costs
   */
  private record Held(
      long cpus, long memoryBytes, JsonObject gpus, boolean fromRequest, BigDecimal perHour) {
    static Held of(String allocTres, RunFacts facts) {
      Tres tres = Tres.parse(allocTres);
      JsonObject gpus = new JsonObject();
      tres.gpusBy(facts.gpuType().orElse("gpu"), facts.plannedGpus()).forEach(gpus::with);
      return new Held(
          tres.cpus(),
          tres.memoryBytes(),
          gpus,
          tres.gpus().isEmpty() && facts.plannedGpus() > 0,
          facts.rates().unrounded(RunOutcome.charged(allocTres, HOUR, facts)));
    }

    String cost(long seconds) {
      return perHour
          .multiply(BigDecimal.valueOf(seconds))
          .divide(BigDecimal.valueOf(HOUR), DECIMALS, RoundingMode.HALF_EVEN)
          .toPlainString();
    }
  }

  private static JsonObject attempt(AccountingRecord row, Held held) {
    AccountingRecord.Witness witness = row.witness();
    boolean requested = witness == AccountingRecord.Witness.JOB || held.fromRequest();
    String word = witness.name().toLowerCase(Locale.ROOT);
    boolean told = witness == AccountingRecord.Witness.ACCOUNTING;
    JsonObject attempt =
        new JsonObject()
            .with("task", row.tasks().indices().get(0))
            .with("cluster", row.cluster())
            .with("job_id", row.rawJobId())
            .with("array_job_id", row.arrayJobId())
            .with("name", row.name())
            .with("user", row.user().isEmpty() ? null : row.user())
            .with("account", row.account().isEmpty() ? null : row.account())
            .with("partition", row.partition().isEmpty() ? null : row.partition())
            .with("state", told ? row.rawState() : row.state().name())
            .with("exit_code", row.exitCode())
            .with("submit", row.submit())
            .withOptional("start", row.start())
            .withOptional("end", row.end())
            .with("elapsed_seconds", row.elapsedSeconds())
            .with("nodes", row.nodes())
            .with("cpus", held.cpus())
            .with("memory_bytes", held.memoryBytes())
            .with("gpus", held.gpus())
            .with("gpus_from", requested ? "request" : word)
            .with("cost", held.cost(row.elapsedSeconds()))
            .with("witness", word);
    AccountingRecord.More more = row.more();
    return attempt
        .withOptional("planned_seconds", more.plannedSeconds())
        .withOptional("restart", more.restarts());
  }

  /** What witnesses other than accounting can't know. */
  private static List<String> limits(RunOutcome outcome) {
    boolean job = false;
    boolean controller = false;
    for (AccountingRecord row : outcome.attempts()) {
      job |= row.witness() == AccountingRecord.Witness.JOB;
      controller |= row.witness() == AccountingRecord.Witness.CONTROLLER;
    }
    List<String> limits = new ArrayList<>();
    if (job) {
      limits.add(
          "witness job: what it held is what was planned; its signal and the clock tell what ended"
              + " it; one that was killed outright is given its time limit");
    }
    if (controller) {
      limits.add(
          "witness controller: slurmctld's memory of the newest attempt; no accounting keeps it, so"
              + " it can't be looked up again");
    }
    return limits;
  }

  private static String hours(BigDecimal hours) {
    return hours.setScale(4, RoundingMode.HALF_EVEN).toPlainString();
  }
}
