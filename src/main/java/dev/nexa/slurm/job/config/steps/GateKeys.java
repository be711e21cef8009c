package dev.nexa.slurm.job.config.steps;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.List;

/** The section {@code data.gate}. */
final class GateKeys {
  private static final String NON_INFERIORITY = "non_inferiority";

  private static final Section RULE =
      section(
          required(
              "metric",
              ValueType.TEXT,
              "A column of the items, or the name of a metric in a summary."),
          optional("at_least", ValueType.DECIMAL_NUMBER, "The metric must be at least this."),
          optional("at_most", ValueType.DECIMAL_NUMBER, "The metric must be at most this."),
          optional(
              "no_worse",
              ValueType.choice("regression", NON_INFERIORITY),
              "The metric must be no worse than the baseline's. regression: fails if a loss is proven."
                  + " non_inferiority: fails unless the loss is proven to be below minimum_effect."),
          optional(
              "minimum_effect",
              ValueType.DECIMAL_NUMBER,
              "With no_worse: a smaller loss does not count."),
          optional(
              "on",
              ValueType.choice("bound", "estimate"),
              "With at_least and at_most: compares the bad bound of the 95 % interval (bound, the default)"
                  + " or the mean (estimate)."),
          optional(
              "better",
              ValueType.choice("higher", "lower"),
              "Which values are good. Without it: lower for bias, toxicity and hallucination, else higher."));

  private static final Section KEYS =
      section(
          required(
              "candidate",
              ValueType.PATH,
              "The evaluation to decide on: the folder or the .parquet file of data.score, or lm_eval's"
                  + " samples_*.jsonl. For at_least and at_most it may be a summary, a .json file."),
          optional(
              "baseline",
              ValueType.PATH,
              "The evaluation to compare with, of the same items; needed for no_worse."),
          required("rules", listOf(RULE), "The conditions. The gate passes if all are fulfilled."),
          optional(
              "id",
              listOf(PrepareKeys.COLUMN),
              "The columns that together name an item. Without it: custom_id, or lm_eval's doc_id."),
          withDefault(
              "alpha",
              ValueType.DECIMAL_NUMBER,
              "0.05",
              "How often no_worse may fail by chance when nothing became worse: 0.05 is once in twenty times."),
          withDefault(
              "seed", ValueType.integer(0, Integer.MAX_VALUE), "42", "The seed of the bootstrap."),
          withDefault(
              "resamples",
              ValueType.integer(1000, 1_000_000),
              "10000",
              "How often the bootstrap draws the items at most."),
          withDefault(
              "max_missing",
              ValueType.DECIMAL_NUMBER,
              "0.05",
              "The largest share of items that one side lacks, or that have no value."),
          withDefault(
              "min_items",
              ValueType.integer(2, Integer.MAX_VALUE),
              "30",
              "The fewest items that a decision needs."));

  static final DataStep STEP =
      new DataStep(
          "gate",
          "Decides whether an evaluation is good enough, and no worse than a baseline. The job fails"
              + " if it is not.",
          KEYS,
          List.of(
              new DataStep.PathKey("", "candidate", "--candidate"),
              new DataStep.PathKey("", "baseline", "--baseline")),
          GateKeys::check);

  private GateKeys() {}

  private static void check(Values step, int tasks) {
    CollectKeys.one(step, "gate", tasks);
    CollectKeys.share(step, "max_missing");
    BigDecimal alpha = step.optionalDecimal("alpha").orElse(BigDecimal.valueOf(0.05));
    if (alpha.signum() <= 0 || alpha.compareTo(BigDecimal.valueOf(0.5)) >= 0) {
      step.report("alpha", "expected a number between 0 and 0.5");
    }
    if (step.sections("rules").isEmpty()) {
      step.report("rules", "at least one rule is needed");
    }
    step.sections("rules").forEach(rule -> rule(rule, step));
  }

  private static void rule(Values rule, Values step) {
    long kinds = List.of("at_least", "at_most", "no_worse").stream().filter(rule::has).count();
    if (kinds != 1) {
      rule.report("metric", "needs exactly one of at_least, at_most and no_worse");
      return;
    }
    BigDecimal effect = rule.optionalDecimal("minimum_effect").orElse(BigDecimal.ZERO);
    if (!rule.has("no_worse")) {
      if (rule.has("minimum_effect")) {
        rule.report("minimum_effect", "goes with no_worse only");
      }
      return;
    }
    if (rule.has("on")) {
      rule.report("on", "goes with at_least and at_most only");
    }
    if (!step.has("baseline")) {
      rule.report("no_worse", "needs data.gate.baseline");
    }
    if (effect.signum() < 0) {
      rule.report("minimum_effect", "must be at least 0");
    }
    if (rule.text("no_worse").equals(NON_INFERIORITY) && effect.signum() == 0) {
      String message =
          "non_inferiority needs a minimum_effect above 0: the largest loss that is acceptable";
      rule.report("no_worse", message);
    }
  }
}
