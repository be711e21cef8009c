package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.JsonStream;
import dev.nexa.slurm.data.stats.Interval;
import dev.nexa.slurm.data.stats.Normal;
import java.io.StringReader;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code results_*.json} of the LM Evaluation Harness as a summary.
 *
 * <p>A task's metric {@code acc,none} becomes {@code TASK/acc}; another filter stays in the name,
 * as in {@code gsm8k/exact_match,strict-match}. The interval is the value and 1.96 standard errors
 * on each side.
 */
public final class LmEvalResults {
  private static final String STDERR = "_stderr";
  private static final double NORMAL = Normal.quantile(0.5 + MetricSummary.CONFIDENCE / 2);

  private LmEvalResults() {}

  /**
   * Reads a file.
   *
   * @param runId the run whose model was evaluated
   * @throws NexaException if it holds no results of the harness
   */
  public static EvalSummary read(Path file, String runId, Instant evaluated) {
    try {
      return of(parse(DurableFiles.read(file)), runId, evaluated);
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.EVALUATION_UNUSABLE.error(
          file + " holds no results of lm_eval: " + broken.getMessage(),
          "name a file results_*.json that lm_eval wrote");
    }
  }

  /** Reads a NaN, which Python writes for a metric without a value, as null. */
  public static JsonObject parse(String text) {
    return JsonStream.read(new StringReader(text), "", (element, line) -> {});
  }

  static EvalSummary of(JsonObject json, String runId, Instant evaluated) {
    List<MetricSummary> metrics = new ArrayList<>();
    for (Map.Entry<String, @Nullable Object> task : json.object("results").members().entrySet()) {
      if (task.getValue() instanceof JsonObject values) {
        metrics(json, task.getKey(), values, metrics);
      }
    }
    if (metrics.isEmpty()) {
      throw new IllegalArgumentException("no task has a number under \"results\"");
    }
    Optional<String> model = json.optionalText("model_name");
    return new EvalSummary(
        runId, model, "lm_eval", Optional.empty(), evaluated, 0, 0, Optional.empty(), metrics);
  }

  private static void metrics(
      JsonObject json, String task, JsonObject values, List<MetricSummary> metrics) {
    for (Map.Entry<String, @Nullable Object> one : values.members().entrySet()) {
      String[] name = one.getKey().split(",", 2);
      if (name.length == 2
          && !name[0].endsWith(STDERR)
          && one.getValue() instanceof BigDecimal value) {
        double mean = value.doubleValue();
        OptionalDouble error =
            values.members().get(name[0] + STDERR + "," + name[1]) instanceof BigDecimal number
                ? OptionalDouble.of(number.doubleValue())
                : OptionalDouble.empty();
        double width = NORMAL * error.orElse(Double.NaN);
        Interval around = new Interval(mean - width, mean + width, MetricSummary.CONFIDENCE);
        metrics.add(
            new MetricSummary(
                task + "/" + name[0] + (name[1].equals("none") ? "" : "," + name[1]),
                mean,
                samples(json, task),
                error,
                Optional.of(around).filter(known -> error.isPresent()),
                isHigherBetter(json, task, name[0])));
      }
    }
  }

  private static long samples(JsonObject json, String task) {
    return json.optionalObject("n-samples")
        .flatMap(all -> all.optionalObject(task))
        .flatMap(counts -> counts.optionalDecimal("effective"))
        .map(BigDecimal::longValue)
        .orElse(0L);
  }

  private static boolean isHigherBetter(JsonObject json, String task, String metric) {
    return json.optionalObject("higher_is_better")
        .flatMap(all -> all.optionalObject(task))
        .map(all -> !Boolean.FALSE.equals(all.members().get(metric)))
        .orElse(true);
  }
}
