package dev.nexa.slurm.job.config.site;

import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Figures to compute the CO2e of a cluster's energy.
 *
 * @param co2eGramsPerKwh grams of CO2e for each kWh of the grid that feeds the cluster
 * @param pue power usage effectiveness: the watts that the site draws for each watt of its nodes
 * @param gpuWatts the power of a GPU at full load (its TDP) in watts, by GPU type; used if
 *     accounting has no energy
 * @param source where the figures come from
 */
public record Energy(
    BigDecimal co2eGramsPerKwh, BigDecimal pue, Map<String, Integer> gpuWatts, String source) {

  static final Section KEYS =
      section(
          required(
              "co2e_grams_per_kwh",
              ValueType.MONEY,
              "Grams of CO2e for each kWh of the grid that feeds the cluster."),
          withDefault(
              "pue",
              ValueType.MONEY,
              "1.0",
              "Power usage effectiveness: the watts that the site draws for each watt of its nodes."),
          optional(
              "gpu_watts",
              mapOf(ValueType.NAME_WORD, ValueType.integer(1, 100_000)),
              "By GPU type, its TDP in watts. Used if accounting has no energy."),
          required("source", ValueType.TEXT, "Where the figures come from, with a date."));

  static Energy from(Values values) {
    Map<String, Integer> watts = new LinkedHashMap<>();
    Values gpus = values.section("gpu_watts");
    gpus.names().forEach(type -> watts.put(type, gpus.integer(type)));
    return new Energy(
        values.decimal("co2e_grams_per_kwh"), values.decimal("pue"), watts, values.text("source"));
  }
}
