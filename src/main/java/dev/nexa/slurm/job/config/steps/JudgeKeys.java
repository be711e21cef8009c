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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/** The section {@code data.judge}. */
public final class JudgeKeys {
  /** The names of {@code data.score.Rubric}. */
  static final List<String> RUBRICS =
      List.of(
          "falsifiability novelty grounding completeness safety bias toxicity hallucination"
              .split(" ", -1));

  static final ValueType METRIC =
      ValueType.text("a name of lower-case letters, digits and '_'", "[a-z][a-z0-9_]{0,40}");

  private static final Section OWN =
      section(
          required("name", METRIC, "The name of its score."),
          required("question", ValueType.SCRIPT, "The text that the judge reads."),
          withDefault(
              "better", ValueType.choice("higher", "lower"), "higher", "Which scores are good."));

  private static final Section SCALE =
      section(
          withDefault("lowest", ValueType.DECIMAL_NUMBER, "1", "The lowest score."),
          withDefault("highest", ValueType.DECIMAL_NUMBER, "5", "The highest score."),
          withDefault(
              "integers", ValueType.BOOLEAN, "true", "Whether scores must be whole numbers."));

  private static final Section COLUMNS =
      section(
          withDefault("id", PrepareKeys.COLUMN, "custom_id", "The column that names the item."),
          withDefault("prompt", PrepareKeys.COLUMN, "prompt", "The column of the question."),
          withDefault("completion", PrepareKeys.COLUMN, "completion", "The column of the answer."),
          optional(
              "reference",
              PrepareKeys.COLUMN,
              "The column of a text that the judge compares the answer with."));

  private static final Section KEYS =
      section(
          required(
              "input",
              listOf(ValueType.PATH),
              "The rows: .parquet or .jsonl files, patterns, or the folder of data.collect."),
          required("model", ValueType.TEXT, "The judge's model, in each request."),
          optional(
              "rubrics",
              listOf(ValueType.choice(RUBRICS.toArray(new String[0]))),
              "Built-in rubrics. Without this key and own_rubrics: the five of the DSS."),
          optional("own_rubrics", listOf(OWN), "Rubrics of your own, after the built-in ones."),
          optional("scale", SCALE, "The scores that the judge may give."),
          withDefault(
              "guided",
              ValueType.choice("response_format", "structured_outputs", "guided_json", "none"),
              "response_format",
              "The field that holds the judge to the JSON schema: response_format for OpenAI and vLLM,"
                  + " structured_outputs for vLLM from 0.11, guided_json for vLLM before 0.12."),
          withDefault(
              "max_tokens", ValueType.integer(1, 1_000_000), "2048", "The longest judgement."),
          optional("columns", COLUMNS, "The names of the rows' columns."),
          optional(
              "sample",
              ValueType.integer(1, Integer.MAX_VALUE),
              "Judges so many rows only. Ids and seed decide which, so two runs get the same items."),
          withDefault("seed", ValueType.integer(0, Integer.MAX_VALUE), "42", "Changes the sample."),
          PrepareKeys.REQUESTS_PER_FILE);

  static final DataStep STEP =
      new DataStep(
          "judge",
          "Turns rows into requests to a judge, which scores them by rubrics.",
          KEYS,
          List.of(new DataStep.PathKey("", "input", "--input")),
          JudgeKeys::check);

  private JudgeKeys() {}

  private static void check(Values step, int tasks) {
    CollectKeys.one(step, "judge", tasks);
    List<String> names = new ArrayList<>(step.texts("rubrics"));
    step.sections("own_rubrics").forEach(own -> own.optionalText("name").ifPresent(names::add));
    if (new HashSet<>(names).size() < names.size()) {
      step.report("rubrics", "a rubric is there twice: " + names);
    }
    if (names.isEmpty() && step.has("rubrics")) {
      step.report("rubrics", "at least one rubric is needed");
    }
    Values scale = step.section("scale");
    BigDecimal lowest = scale.optionalDecimal("lowest").orElse(BigDecimal.ONE);
    BigDecimal highest = scale.optionalDecimal("highest").orElse(BigDecimal.valueOf(5));
    if (lowest.compareTo(highest) >= 0) {
      scale.report("highest", "must be greater than lowest");
    }
    boolean whole = !scale.has("integers") || scale.flag("integers");
    if (whole && (GenerateKeys.isFraction(lowest) || GenerateKeys.isFraction(highest))) {
      scale.report("integers", "lowest or highest is not whole; write integers: false");
    }
  }
}
