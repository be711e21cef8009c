package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.telemetry.Telemetry;
import dev.nexa.slurm.records.telemetry.TelemetrySummary;
import dev.nexa.slurm.run.results.TaskResults;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EnergyUseTest {
  @Test
  void whatSlurmMeasuredIsAddedUpOverTheAttempts() {
    RunFacts facts = Facts.keptAndGreen();

    EnergyUse use = EnergyUse.of(facts, outcome(facts, ",energy=3600000"), metrics()).orElseThrow();

    assertThat(use.joules()).isEqualByComparingTo("7200000");
    assertThat(use.toJson(facts.energy()).text("kwh")).isEqualTo("2.0000");
    assertThat(use.toJson(facts.energy()).text("co2e_grams")).isEqualTo("960.0000");
    assertThat(use.toJson(Optional.empty()).optionalText("co2e_grams")).isEmpty();
  }

  /** Zero, nothing, and NO_VAL64 as old versions let it out. */
  @ParameterizedTest
  @CsvSource({"''", "',energy=0'", "',energy=18446744073709551614'"})
  void withoutAMeasurementTheGpusPowerStandsInForIt(String energy) {
    RunFacts facts = Facts.keptAndGreen();

    EnergyUse full = EnergyUse.of(facts, outcome(facts, energy), metrics()).orElseThrow();
    JsonObject half = new JsonObject().with("gpu_utilization", new BigDecimal("0.5"));
    EnergyUse used =
        EnergyUse.of(
                facts, outcome(facts, energy), new TaskResults(half, Map.of(0, half), List.of()))
            .orElseThrow();

    assertThat(full.joules()).isEqualByComparingTo("10080000"); // two hours, two GPUs, 700 W
    assertThat(full.basis()).contains("as if they had worked all the time");
    assertThat(used.joules()).isEqualByComparingTo("5040000");
  }

  /** Also without a profile's energy; each attempt by its own samples. */
  @Test
  void sampledPowerIsAddedUpOverTheAttempts() {
    RunFacts facts = Facts.of(1, 0);
    Map<String, Telemetry.Energy> sampled =
        Map.of(
            Telemetry.attempt(Rows.KEY, 0, 0), new Telemetry.Energy(1_000_000, 7200),
            Telemetry.attempt(Rows.KEY, 0, 1), new Telemetry.Energy(2_600_000, 7000));

    EnergyUse use = EnergyUse.of(facts, outcome(facts, ""), sampled(sampled)).orElseThrow();

    assertThat(use.toJson(Optional.empty()).text("kwh")).isEqualTo("1.0000");
    assertThat(use.basis()).isEqualTo("GPU power, sampled");
    RunFacts green = Facts.keptAndGreen();
    assertThat(EnergyUse.of(green, outcome(green, ",energy=3600000"), sampled(sampled)))
        .as("what Slurm measured counts whole nodes")
        .map(EnergyUse::joules)
        .contains(new BigDecimal("7200000"));
  }

  /** An attempt without samples, or with samples of less than half of its time. */
  @ParameterizedTest
  @CsvSource({"0", "3500"})
  void whereAnAttemptWasNotSampledThePowerIsNotGuessedFromTheOther(double gpuSeconds) {
    RunFacts facts = Facts.keptAndGreen();
    Map<String, Telemetry.Energy> sampled = new HashMap<>();
    sampled.put(Telemetry.attempt(Rows.KEY, 0, 0), new Telemetry.Energy(1_000_000, 7200));
    if (gpuSeconds > 0) {
      sampled.put(Telemetry.attempt(Rows.KEY, 0, 1), new Telemetry.Energy(900_000, gpuSeconds));
    }

    assertThat(EnergyUse.of(facts, outcome(facts, ""), sampled(sampled)).orElseThrow().basis())
        .startsWith("TDP of the GPUs");
  }

  private static TaskResults sampled(Map<String, Telemetry.Energy> energy) {
    Telemetry telemetry =
        new Telemetry(
            Optional.of(
                Codec.read(
                    Json.parseObject(
                        "{\"source\": \"nvidia-smi\", \"activity\": \"none\", \"files\": 2,"
                            + " \"samples\": 700, \"broken_lines\": 0, \"hangs\": 0, \"before\": {},"
                            + " \"after\": {}}"),
                    TelemetrySummary.class)),
            Map.of(),
            energy);
    return metrics().sampled(telemetry, false);
  }

  @Test
  void whereNobodyTellsItIsUnknown() {
    assertThat(EnergyUse.of(Facts.of(1, 0), outcome(Facts.of(1, 0), ""), metrics())).isEmpty();
  }

  private static TaskResults metrics() {
    return new TaskResults(new JsonObject(), Map.of(), List.of());
  }

  /** Two attempts of an hour each. */
  private static RunOutcome outcome(RunFacts facts, String energy) {
    return RunOutcome.of(
        facts,
        Facts.journal(1, "created submitting submitted confirmed"),
        Rows.accounting("0 REQUEUED 10-3610; 0 COMPLETED 3700-7300").stream()
            .map(row -> Rows.holding(row, Rows.TRES + energy))
            .toList(),
        List.of(),
        Map.of(),
        Rows.NOON.plusSeconds(10_000));
  }
}
