package dev.nexa.slurm.job.config.steps;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.List;

/** The section {@code data.collect}. */
final class CollectKeys {
  private static final Section KEYS =
      section(
          required(
              "requests",
              listOf(ValueType.PATH),
              "The batch's request files: .jsonl files, patterns or folders."),
          required(
              "answers",
              listOf(ValueType.PATH),
              "The batch's output files, and OpenAI's error files. If a request has several answers, its"
                  + " first success in this order counts."),
          withDefault(
              "truncated",
              ValueType.choice("keep", "reject"),
              "keep",
              "Whether texts that the limit of tokens cut become rows, which are marked, or rejects."),
          withDefault(
              "max_lost",
              ValueType.DECIMAL_NUMBER,
              "0.05",
              "The largest share of requests without a row. Above it the stage fails, after it has written"
                  + " its files."));

  static final DataStep STEP =
      new DataStep(
          "collect",
          "Matches a batch's answers with its requests and writes rows, and the missing requests.",
          KEYS,
          List.of(
              new DataStep.PathKey("", "requests", "--requests"),
              new DataStep.PathKey("", "answers", "--answers")),
          CollectKeys::check);

  private CollectKeys() {}

  private static void check(Values step, int tasks) {
    one(step, "collect", tasks);
    share(step, "max_lost");
  }

  /** Adds a problem if a step that needs all rows at once has several tasks. */
  static void one(Values step, String name, int tasks) {
    if (tasks > 1) {
      step.report("", name + " sees all rows at once, so it needs one task, not " + tasks);
    }
  }

  /** Adds a problem if a key is not from 0 to 1. */
  static void share(Values step, String key) {
    BigDecimal share = step.optionalDecimal(key).orElse(BigDecimal.ZERO);
    if (share.signum() < 0 || share.compareTo(BigDecimal.ONE) > 0) {
      step.report(key, "expected a share from 0 to 1, got " + share.toPlainString());
    }
  }
}
