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
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * {@code cost_<run_id>.json}: the seeds' keys, and beside them every line and every attempt, so
 * that each cent can be traced to an sacct row. Pure.
 */
public final class CostRecord {
  private static final long HOUR = 3600;
  private static final int DECIMALS = 6;

  private CostRecord() {}

  /** What the run has cost so far: its closed attempts at the rates it was estimated with. */
  public static Money total(RunFacts facts, RunState journal, RunOutcome outcome) {
    Rates rates = facts.rates();
    Money compute = rates.total(rates.price(outcome.used()));
    Optional<CostLine> storage = storage(facts, journal);
    return storage.isPresent() ? compute.plus(storage.get().amount()) : compute;
  }

  /** Its durable files for as long as they are kept; empty where one or the other is not known. */
  private static Optional<CostLine> storage(RunFacts facts, RunState journal) {
    if (facts.kept().isEmpty() || journal.durableBytes().isEmpty()) {
      return Optional.empty();
    }
    return facts.rates().storage(journal.durableBytes().get(), facts.kept().get().days());
  }

  /**
   * The record; what reruns may cost is part of what was reserved.
   *
   * @param results whose metrics may tell how much of their GPUs the tasks used
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
    Money stored = storage.isPresent() ? storage.get().amount() : Money.zero(rates.currency());
    Money total = compute.plus(stored);
    if (storage.isPresent()) {
      lines.add(storage.get());
    }
    List<String> notMeasured = new ArrayList<>(List.of("egress_gb"));
    if (storage.isEmpty()) {
      notMeasured.add(0, "storage_gb_month");
    }
    Optional<EnergyUse> energy = EnergyUse.of(facts, outcome, results);
    Waste waste = Waste.of(facts, outcome, results);
    Money credit = rates.total(rates.price(outcome.usage(credited, facts)));
    Money reserved =
        new Money(
            new BigDecimal(facts.estimate().object("reservation").text("total"))
                .add(journal.reservedMore()),
            rates.currency());
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
                    .with("egress_gb", Money.zero(rates.currency()).amount()))
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
                    .with("gpu_hours", facts.estimate().text("gpu_hours"))
                    .with("cpu_hours", facts.estimate().text("cpu_hours")));
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
    boolean ofJob = row.witness() == AccountingRecord.Witness.JOB;
    return new JsonObject()
        .with("task", row.tasks().indices().get(0))
        .with("cluster", row.cluster())
        .with("job_id", row.rawJobId())
        .with("array_job_id", row.arrayJobId())
        .with("name", row.name())
        .with("user", row.user().isEmpty() ? null : row.user())
        .with("account", row.account().isEmpty() ? null : row.account())
        .with("partition", row.partition().isEmpty() ? null : row.partition())
        .with("state", row.rawState())
        .with("exit_code", row.exitCode())
        .with("submit", row.submit())
        .withOptional("start", row.start())
        .withOptional("end", row.end())
        .with("elapsed_seconds", row.elapsedSeconds())
        .with("nodes", row.nodes())
        .with("cpus", held.cpus())
        .with("memory_bytes", held.memoryBytes())
        .with("gpus", held.gpus())
        .with("gpus_from", ofJob || held.fromRequest() ? "request" : "accounting")
        .with("cost", held.cost(row.elapsedSeconds()))
        .with("witness", ofJob ? "job" : "accounting");
  }

  private static String hours(BigDecimal hours) {
    return hours.setScale(4, RoundingMode.HALF_EVEN).toPlainString();
  }
}
