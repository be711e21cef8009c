package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.BatchAnswer;
import dev.nexa.slurm.data.collect.BatchJoin;
import dev.nexa.slurm.data.collect.BatchRequest;
import dev.nexa.slurm.data.collect.JoinCounts;
import dev.nexa.slurm.data.score.Judgement.Scored;
import dev.nexa.slurm.data.score.Judgement.Unscored;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.DoubleStream;

/** Reads a judge's answers and writes one row for each item, scored or not. */
public final class Score {
  /**
   * The counts and the metrics of all answers of the judge.
   *
   * @param items the number of requests to the judge
   * @param unscored the number of items without a score; an item without an answer counts
   * @param metrics a summary for each rubric, and a summary of the composite score; empty if no
   *     item has a score
   * @param longest the bytes of the longest row as JSON
   */
  public record Result(
      JoinCounts counts, long items, long unscored, List<MetricSummary> metrics, int longest) {
    /**
     * Checks the share of items without a score.
     *
     * @param rejects the file with the reasons, for the message
     * @throws NexaException if the share is above the limit, or if no item has a score
     */
    public void require(ScoreOptions options, Path rejects) {
      if (unscored == items || (double) unscored / items > options.maxUnscored()) {
        throw ErrorCode.TOO_MANY_UNSCORED.error(
            "%s of %s items have no score; max_unscored is %s"
                .formatted(unscored, items, options.maxUnscored()),
            "read the reasons in " + rejects);
      }
    }
  }

  private Score() {}

  /** Returns the columns of a row in order, with their types in DuckDB. */
  public static Map<String, String> columns(ScoreOptions options) {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("custom_id", "VARCHAR");
    columns.put("status", "VARCHAR");
    if (!options.weights().isEmpty()) {
      columns.put(options.composite(), "DOUBLE");
    }
    options.rubrics().forEach(rubric -> columns.put(rubric.name(), "DOUBLE"));
    options.rubrics().forEach(rubric -> columns.put(rubric.name() + "_reason", "VARCHAR"));
    columns.put("unscored_reason", "VARCHAR");
    return columns;
  }

  /**
   * Matches the judge's answers with its requests, and parses them.
   *
   * @param rows receives one JSON object a line, in the order of the requests
   * @param rejects receives the items without a score, with the reason and the judge's words
   */
  public static Result run(
      List<Path> requests, List<Path> answers, ScoreOptions options, Path rows, Path rejects) {
    try (StagedFile row = new StagedFile(rows);
        StagedFile reject = new StagedFile(rejects)) {
      Sink sink = new Sink(options, row, reject);
      JoinCounts counts = BatchJoin.run(requests, answers, sink);
      row.commit();
      reject.commit();
      return new Result(counts, counts.requests(), sink.unscored, sink.metrics(), row.longest());
    }
  }

  private static final class Sink implements BatchJoin.Handler {
    private final ScoreOptions options;
    private final StagedFile row;
    private final StagedFile reject;
    private final Map<String, DoubleStream.Builder> values = new LinkedHashMap<>();
    private long unscored;

    Sink(ScoreOptions options, StagedFile row, StagedFile reject) {
      this.options = options;
      this.row = row;
      this.reject = reject;
    }

    @Override
    public void answered(BatchRequest request, BatchAnswer answer) {
      // A judge gives one text. More texts would be other opinions, no better than the first.
      String text = answer.choices().get(0).text();
      Judgement judgement = Judgement.parse(text, options.rubrics(), options.scale());
      if (judgement instanceof Scored scored) {
        score(request.customId(), scored);
      } else if (judgement instanceof Unscored none) {
        boolean cut = answer.choices().get(0).truncated();
        reject(
            request.customId(),
            none.reason() + (cut ? " (the limit of tokens cut the answer)" : ""),
            Optional.of(text));
      }
    }

    private void score(String id, Scored scored) {
      JsonObject json = new JsonObject().with("custom_id", id).with("status", "scored");
      options
          .composite(scored.scores())
          .ifPresent(composite -> put(json, options.composite(), composite));
      scored.scores().forEach((rubric, score) -> put(json, rubric, score));
      scored.reasons().forEach((rubric, reason) -> json.with(rubric + "_reason", reason));
      row.line(Json.compact(json));
    }

    private void put(JsonObject json, String metric, BigDecimal value) {
      json.with(metric, value);
      values.computeIfAbsent(metric, first -> DoubleStream.builder()).add(value.doubleValue());
    }

    @Override
    public void failed(BatchRequest request, String line, String reason) {
      reject(request.customId(), "the judge's request failed: " + reason, Optional.empty());
    }

    @Override
    public void missing(BatchRequest request, String line) {
      reject(request.customId(), "the judge did not answer", Optional.empty());
    }

    @Override
    public void ignored(String place, Optional<String> id, String reason) {
      // The join counts these. The item's own answer, or its absence, decides.
    }

    private void reject(String id, String reason, Optional<String> text) {
      unscored++;
      JsonObject none = new JsonObject().with("custom_id", id).with("status", "unscored");
      row.line(Json.compact(none.with("unscored_reason", reason)));
      JsonObject why = new JsonObject().with("custom_id", id).with("reason", reason);
      reject.line(Json.compact(why.with("answer", text.orElse(null))));
    }

    private List<MetricSummary> metrics() {
      List<MetricSummary> metrics = new ArrayList<>();
      values.forEach(
          (name, list) ->
              MetricSummary.of(name, list.build().toArray(), isBetterHigher(name), options.seed())
                  .ifPresent(metrics::add));
      return metrics;
    }

    private boolean isBetterHigher(String name) {
      return options.rubrics().stream()
          .filter(rubric -> rubric.name().equals(name))
          .allMatch(Rubric::higherIsBetter);
    }
  }
}
