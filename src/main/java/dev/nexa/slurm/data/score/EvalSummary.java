package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The results of an evaluation of one run.
 *
 * @param runId the run whose model was evaluated
 * @param model the model's name; empty if it is not known
 * @param source {@code judge} or {@code lm_eval}
 * @param judge the judge's model; empty if there is none
 * @param items the number of items; 0 if it is not known
 * @param unscored items without a score
 * @param seed of the intervals; empty if they need none
 */
public record EvalSummary(
    String runId,
    Optional<String> model,
    String source,
    Optional<String> judge,
    Instant evaluated,
    long items,
    long unscored,
    Optional<Long> seed,
    List<MetricSummary> metrics) {
  private static final int NEWEST = 1;
  private static final String METRICS = "metrics";
  private static final String UNSCORED = "unscored";
  private static final String EVALUATED = "evaluated";

  /** Returns the metric with this name; empty if there is none. */
  public Optional<MetricSummary> metric(String name) {
    return metrics.stream().filter(metric -> metric.name().equals(name)).findFirst();
  }

  /** Returns the document. */
  public JsonObject json() {
    return new JsonObject()
        .with("run_id", runId)
        .with("model", model.orElse(null))
        .with("source", source)
        .with("judge", judge.orElse(null))
        .with(EVALUATED, evaluated)
        .with(SchemaVersion.KEY, NEWEST)
        .withOptional("items", Optional.of(items).filter(known -> known > 0))
        .withOptional(UNSCORED, Optional.of(unscored).filter(count -> items > 0))
        .with("confidence", MetricSummary.number(MetricSummary.CONFIDENCE))
        .withOptional("seed", seed)
        .with(METRICS, metrics.stream().map(MetricSummary::json).toList());
  }

  /**
   * Reads a document.
   *
   * @throws IllegalArgumentException if it is no such document
   */
  public static EvalSummary of(JsonObject json) {
    return new EvalSummary(
        json.text("run_id"),
        json.optionalText("model"),
        json.text("source"),
        json.optionalText("judge"),
        json.instant(EVALUATED),
        json.optionalDecimal("items").map(Number::longValue).orElse(0L),
        json.optionalDecimal(UNSCORED).map(Number::longValue).orElse(0L),
        json.optionalDecimal("seed").map(Number::longValue),
        json.objects(METRICS).stream().map(MetricSummary::of).toList());
  }

  /**
   * Reads a file.
   *
   * @throws NexaException if the file is no summary, or if a newer nexa-slurm wrote it
   * @throws java.io.UncheckedIOException if it cannot be read
   */
  public static EvalSummary read(Path file) {
    try {
      return of(SchemaVersion.parse(DurableFiles.read(file), file.toString(), NEWEST));
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.EVALUATION_UNUSABLE.error(
          file + " is no summary of an evaluation: " + broken.getMessage(),
          "name a file science_eval_RUN.json that `data score` wrote");
    }
  }
}
