package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.mapOf;
import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.required;
import static dev.nexa.slurm.config.Shape.section;
import static dev.nexa.slurm.config.Shape.withDefault;

import dev.nexa.slurm.config.Shape.Section;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a cluster's energy means for the climate.
 *
 * @param co2eGramsPerKwh of the grid that feeds it
 * @param pue power usage effectiveness: what the site draws for each watt of its nodes
 * @param gpuWatts by GPU type, what one draws at full load (its TDP): for clusters that measure no
 *     energy
 * @param source where the figures are from
 */
public record Energy(
    BigDecimal co2eGramsPerKwh, BigDecimal pue, Map<String, Integer> gpuWatts, String source) {

  static final Section KEYS =
      section(
          required(
              "co2e_grams_per_kwh",
              ValueType.MONEY,
              "Grams of CO2e for each kWh, of the grid that feeds the cluster."),
          withDefault(
              "pue",
              ValueType.MONEY,
              "1.0",
              "Power usage effectiveness: what the site draws for each watt of its nodes."),
          optional(
              "gpu_watts",
              mapOf(ValueType.NAME_WORD, ValueType.integer(1, 100_000)),
              "By GPU type, its TDP in watts: used where accounting has no energy."),
          required("source", ValueType.TEXT, "Where the figures are from, with a date."));

  static Energy from(Values values) {
    Map<String, Integer> watts = new LinkedHashMap<>();
    Values gpus = values.section("gpu_watts");
    for (String type : gpus.names()) {
      watts.put(type, gpus.integer(type));
    }
    return new Energy(
        values.decimal("co2e_grams_per_kwh"), values.decimal("pue"), watts, values.text("source"));
  }
}
