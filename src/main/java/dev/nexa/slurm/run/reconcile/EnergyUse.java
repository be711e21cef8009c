package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.config.site.Energy;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.Usage;
import dev.nexa.slurm.records.telemetry.Telemetry;
import dev.nexa.slurm.run.results.TaskResults;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The energy that a run's attempts used, in joules. Immutable; reads no file.
 *
 * @param joules the energy of the nodes, or of their GPUs
 * @param basis the source of the number
 */
record EnergyUse(BigDecimal joules, String basis) {
  private static final BigDecimal JOULES_PER_KWH = BigDecimal.valueOf(3_600_000);
  private static final String ENERGY = "energy=";
  private static final int DECIMALS = 4;

  /** The share of an attempt's GPU time that must have been sampled. */
  private static final double SAMPLED = 0.5;

  /**
   * Returns Slurm's own number, which counts whole nodes, if each attempt has one. Otherwise
   * returns the sampled energy of the GPUs if each attempt was sampled, else a number from the
   * GPUs' TDP. Empty if none is known, and without attempts.
   */
  static Optional<EnergyUse> of(RunFacts facts, RunOutcome outcome, TaskResults results) {
    if (outcome.attempts().isEmpty()) {
      return Optional.empty();
    }
    BigDecimal measured = BigDecimal.ZERO;
    for (AccountingRecord row : outcome.attempts()) {
      Optional<BigDecimal> joules = joules(row.allocTres());
      if (joules.isEmpty()) {
        return ofSamples(facts, outcome, results.energy())
            .or(() -> facts.energy().flatMap(energy -> ofTdp(energy, facts, outcome, results)));
      }
      measured = measured.add(joules.get());
    }
    return Optional.of(new EnergyUse(measured, "ConsumedEnergy of accounting, of whole nodes"));
  }

  /**
   * Returns {@code energy=} of AllocTRES, in joules; empty for zero, which a cluster without energy
   * accounting prints.
   */
  private static Optional<BigDecimal> joules(String allocTres) {
    for (String item : allocTres.split(",", -1)) {
      if (item.startsWith(ENERGY)) {
        String value = item.substring(ENERGY.length());
        return Optional.of(value).filter(it -> it.matches("[1-9]\\d{0,16}")).map(BigDecimal::new);
      }
    }
    return Optional.empty();
  }

  private static Optional<EnergyUse> ofSamples(
      RunFacts facts, RunOutcome outcome, Map<String, Telemetry.Energy> sampled) {
    Map<String, Integer> begun = new HashMap<>();
    double joules = 0;
    for (AccountingRecord row : outcome.attempts()) {
      if (!row.ran() || row.elapsedSeconds() == 0) {
        continue;
      }
      int task = row.tasks().indices().get(0);
      int restart = begun.merge(row.name() + "/" + task, 1, Integer::sum) - 1;
      Usage held = RunOutcome.usage(Tres.parse(row.allocTres()), row.elapsedSeconds(), facts);
      long gpuSeconds = held.gpuSeconds().values().stream().mapToLong(Long::longValue).sum();
      Telemetry.Energy own = sampled.get(Telemetry.attempt(row.name(), task, restart));
      if (own == null || gpuSeconds == 0 || own.gpuSeconds() < SAMPLED * gpuSeconds) {
        return Optional.empty();
      }
      joules += own.joules();
    }
    return joules == 0
        ? Optional.empty()
        : Optional.of(new EnergyUse(BigDecimal.valueOf(joules), "GPU power, sampled"));
  }

  private static Optional<EnergyUse> ofTdp(
      Energy energy, RunFacts facts, RunOutcome outcome, TaskResults results) {
    Map<Integer, BigDecimal> utilization = results.charged().gpuUtilization();
    BigDecimal joules = BigDecimal.ZERO;
    boolean guessed = false;
    for (AccountingRecord row : outcome.attempts()) {
      Usage held = RunOutcome.usage(Tres.parse(row.allocTres()), row.elapsedSeconds(), facts);
      BigDecimal used = utilization.get(row.tasks().indices().get(0));
      for (Map.Entry<String, Long> gpu : held.gpuSeconds().entrySet()) {
        Integer watts = energy.gpuWatts().get(gpu.getKey());
        if (watts == null) {
          return Optional.empty();
        }
        BigDecimal full = BigDecimal.valueOf(gpu.getValue()).multiply(BigDecimal.valueOf(watts));
        joules = joules.add(used == null ? full : full.multiply(used));
        guessed |= used == null;
      }
    }
    return joules.signum() == 0
        ? Optional.empty()
        : Optional.of(
            new EnergyUse(
                joules,
                guessed
                    ? "TDP of the GPUs, as if they had worked all the time"
                    : "TDP of the GPUs x gpu_utilization"));
  }

  /** Returns the line of the cost; empty if the energy is unknown or has no price. */
  static Optional<CostLine> line(RunFacts facts, RunOutcome outcome, TaskResults results) {
    return of(facts, outcome, results)
        .flatMap(used -> facts.rates().line(PricedUnit.ENERGY, used.drawn(facts.energy())));
  }

  private BigDecimal kwh() {
    return joules.divide(JOULES_PER_KWH, MathContext.DECIMAL128);
  }

  /** Returns the kWh that the site drew for it: its PUE is 1 if the profile says none. */
  private BigDecimal drawn(Optional<Energy> site) {
    return kwh().multiply(site.map(Energy::pue).orElse(BigDecimal.ONE));
  }

  JsonObject toJson(Optional<Energy> energy) {
    BigDecimal kwh = kwh();
    JsonObject json =
        new JsonObject().with("kwh", rounded(kwh)).with("basis", basis).with("co2e_grams", null);
    if (energy.isPresent()) {
      Energy site = energy.get();
      BigDecimal grams = drawn(energy).multiply(site.co2eGramsPerKwh());
      json.with("co2e_grams", rounded(grams))
          .with("co2e_grams_per_kwh", site.co2eGramsPerKwh().toPlainString())
          .with("pue", site.pue().toPlainString())
          .with("source", site.source());
    }
    return json;
  }

  private static String rounded(BigDecimal number) {
    return number.setScale(DECIMALS, RoundingMode.HALF_EVEN).toPlainString();
  }
}
