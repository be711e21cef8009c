package dev.nexa.slurm.job.config.steps;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.List;

/**
 * The section {@code data.score}. Its keys have no default here: a section whose keys are all
 * optional would then be there without being written, and a stage has one step. {@code data score}
 * knows the defaults.
 */
final class ScoreKeys {
  private static final Section KEYS =
      section(
          optional(
              "requests",
              listOf(ValueType.PATH),
              "The requests to the judge: the folder of data.judge, or files in it."),
          optional("answers", listOf(ValueType.PATH), "The output files of the judge's batch."),
          optional(
              "items",
              listOf(ValueType.PATH),
              "The rows that data.judge read. With it the step also writes scored.parquet: the rows with"
                  + " their scores beside them, for data.filter."),
          optional(
              "items_id", PrepareKeys.COLUMN, "The column of the rows' id. Default: custom_id."),
          optional(
              "lm_eval",
              ValueType.PATH,
              "Instead of requests and answers: a results_*.json of lm_eval, a pattern, or a folder with one."),
          optional(
              "run_id",
              ValueType.NAME_WORD,
              "The run whose model is evaluated, in the names of the files. Without it: this run."),
          optional("model", ValueType.TEXT, "The evaluated model, for the leaderboard."),
          optional(
              "weights",
              mapOf(JudgeKeys.METRIC, ValueType.DECIMAL_NUMBER),
              "The weight of each rubric in the composite score; their sum is 1. Without it, if all five"
                  + " rubrics are there: falsifiability 0.3, grounding 0.2, completeness 0.2, safety 0.2,"
                  + " novelty 0.1."),
          optional("composite", JudgeKeys.METRIC, "The name of the composite score. Default: dss."),
          optional(
              "max_unscored",
              ValueType.DECIMAL_NUMBER,
              "The largest share of items without a score. Above it the stage fails, after it has written"
                  + " its files. Default: 0.05."),
          optional(
              "seed",
              ValueType.integer(0, Integer.MAX_VALUE),
              "The seed of the confidence intervals. Default: 42."),
          optional(
              "evals",
              ValueType.PATH,
              "The folder that gets a copy of the files, for all runs. Default: ${durable}/evals."));

  static final DataStep STEP =
      new DataStep(
          "score",
          "Reads a judge's answers and writes scores and a summary with confidence intervals.",
          KEYS,
          List.of(
              new DataStep.PathKey("", "requests", "--requests"),
              new DataStep.PathKey("", "answers", "--answers"),
              new DataStep.PathKey("", "items", "--items"),
              new DataStep.PathKey("", "lm_eval", "--lm-eval"),
              new DataStep.PathKey("", "evals", "--evals")),
          ScoreKeys::check);

  private ScoreKeys() {}

  private static void check(Values step, int tasks) {
    CollectKeys.one(step, "score", tasks);
    CollectKeys.share(step, "max_unscored");
    boolean judged = step.has("requests") && step.has("answers");
    boolean half = step.has("requests") != step.has("answers");
    if (half || judged == step.has("lm_eval")) {
      step.report("", "expected requests and answers of a judge, or lm_eval, and not both");
    }
    Values weights = step.section("weights");
    BigDecimal sum = BigDecimal.ZERO;
    for (String name : weights.names()) {
      sum = sum.add(weights.optionalDecimal(name).orElse(BigDecimal.ZERO));
    }
    if (!weights.names().isEmpty() && sum.compareTo(BigDecimal.ONE) != 0) {
      step.report("weights", "their sum is " + sum.toPlainString() + "; expected 1");
    }
  }
}
