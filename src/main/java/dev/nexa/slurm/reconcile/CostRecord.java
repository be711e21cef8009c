package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.estimate.CostLine;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.Tres;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * {@code cost_<run_id>.json}: the seeds' keys, and beside them every line and every attempt, so
 * that each cent can be traced to an sacct row. Pure.
 */
public final class CostRecord {
  private CostRecord() {}

  /** What the run has cost so far: its closed attempts at the rates it was estimated with. */
  public static Money total(RunFacts facts, RunOutcome outcome) {
    return facts.rates().total(facts.rates().price(outcome.used()));
  }

  /** The record; what reruns may cost is part of what was reserved. */
  public static JsonObject of(RunFacts facts, RunState journal, RunOutcome outcome) {
    Rates rates = facts.rates();
    List<CostLine> lines = rates.price(outcome.used());
    Money total = rates.total(lines);
    Money wasted = rates.total(rates.price(outcome.wasted()));
    Money reserved =
        new Money(
            new BigDecimal(facts.estimate().object("reservation").text("total"))
                .add(journal.reservedMore()),
            rates.currency());
    List<JsonObject> attempts = new ArrayList<>();
    for (AccountingRecord row : outcome.attempts()) {
      attempts.add(attempt(row, facts));
    }
    return new JsonObject()
        .with("run_id", facts.id().value())
        .with(
            "breakdown",
            new JsonObject()
                .with("compute_hours", total.amount())
                .with("storage_gb_month", Money.zero(rates.currency()).amount())
                .with("egress_gb", Money.zero(rates.currency()).amount()))
        .with("total", total.amount())
        .with("schema_version", 1)
        .with("currency", rates.currency())
        .with("status", outcome.status())
        .with("not_measured", List.of("storage_gb_month", "egress_gb"))
        .with(
            "estimate",
            new JsonObject()
                .with("config_digest", facts.estimate().text("config_digest"))
                .with("price_book", facts.estimate().object("price_book"))
                .with("reservation", reserved.amount().toPlainString())
                .with("gpu_hours", facts.estimate().text("gpu_hours"))
                .with("cpu_hours", facts.estimate().text("cpu_hours")))
        .with(
            "actual",
            new JsonObject()
                .with("gpu_hours", hours(outcome.used().gpuHours()))
                .with("cpu_hours", hours(outcome.used().cpuHours()))
                .with("lines", CostLine.toJson(lines))
                .with("attempts", attempts))
        .with("difference", total.minus(reserved).amount().toPlainString())
        .with("wasted", wasted.amount().toPlainString());
  }

  private static JsonObject attempt(AccountingRecord row, RunFacts facts) {
    Tres tres = Tres.parse(row.allocTres());
    JsonObject gpus = new JsonObject();
    tres.gpusBy(facts.gpuType().orElse("gpu"), facts.plannedGpus()).forEach(gpus::with);
    boolean ofJob = row.witness() == AccountingRecord.Witness.JOB;
    boolean fromRequest = ofJob || (tres.gpus().isEmpty() && facts.plannedGpus() > 0);
    return new JsonObject()
        .with("task", row.tasks().indices().get(0))
        .with("cluster", row.cluster())
        .with("job_id", row.rawJobId())
        .with("array_job_id", row.arrayJobId())
        .with("name", row.name())
        .with("state", row.rawState())
        .with("exit_code", row.exitCode())
        .with("submit", row.submit())
        .withOptional("start", row.start())
        .withOptional("end", row.end())
        .with("elapsed_seconds", row.elapsedSeconds())
        .with("nodes", row.nodes())
        .with("cpus", tres.cpus())
        .with("memory_bytes", tres.memoryBytes())
        .with("gpus", gpus)
        .with("gpus_from", fromRequest ? "request" : "accounting")
        .with("witness", row.witness().name().toLowerCase(Locale.ROOT));
  }

  private static String hours(BigDecimal hours) {
    return hours.setScale(4, RoundingMode.HALF_EVEN).toPlainString();
  }
}
