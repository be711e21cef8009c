package dev.nexa.slurm.job.config;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.List;

/** The section {@code data.collect}. */
final class CollectKeys {
  static final DataStep STEP =
      new DataStep(
          "collect",
          "Matches the answers of a batch of requests with the requests, and writes what is missing as new requests.",
          section(
              required(
                  "requests",
                  listOf(ValueType.PATH),
                  "The request files, such as `data.prepare` writes."),
              required(
                  "answers",
                  listOf(ValueType.PATH),
                  "The output files of `vllm run-batch` or of OpenAI's batches, with their error files."),
              withDefault(
                  "truncated",
                  ValueType.choice("keep", "reject"),
                  "keep",
                  "What becomes of an answer that the token limit cut: it is kept with `truncated: true`, or"
                      + " rejected and asked for again."),
              optional(
                  "max_failed",
                  ValueType.DECIMAL_NUMBER,
                  "The step fails if a greater share of the requests has no answer, from 0 to 1."),
              withDefault(
                  "rows_per_file",
                  ValueType.integer(1, 100_000_000),
                  "100000",
                  "The most rows of a Parquet file."),
              withDefault(
                  "requests_per_file",
                  ValueType.integer(1, 10_000_000),
                  "5000",
                  "The most requests of a new request file."),
              withDefault("max_row", ValueType.MEMORY, "16M", "The most bytes of a line.")),
          List.of(
              new DataStep.PathKey("", "requests", "--input"),
              new DataStep.PathKey("", "answers", "--answers")),
          CollectKeys::check);

  private CollectKeys() {}

  private static void check(Values step, int tasks, List<Problem> problems) {
    BigDecimal most = step.optionalDecimal("max_failed").orElse(BigDecimal.ZERO);
    if (most.signum() < 0 || most.compareTo(BigDecimal.ONE) > 0) {
      problems.add(step.problem("max_failed", "expected a number from 0 to 1, got " + most));
    }
  }
}
