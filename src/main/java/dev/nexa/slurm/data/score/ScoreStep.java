package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.data.collect.BatchFiles;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.RowFile;
import dev.nexa.slurm.data.engine.Sql;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The step {@code score}: a judge's answers become {@code science_eval_RUN.parquet}, a summary
 * {@code science_eval_RUN.json}, and {@code science_eval_RUN.rejects.jsonl}.
 */
public final class ScoreStep {
  /** The first part of the files' names. */
  public static final String STEM = "science_eval_";

  private static final int JUDGE_NEWEST = 1;

  /**
   * The results of the step.
   *
   * @param metrics for {@code NEXA_METRICS}
   * @param result the counts and metrics of the judge's answers; empty for results of lm_eval
   */
  public record Written(JsonObject metrics, Optional<Score.Result> result) {
    /**
     * Checks the share of items without a score.
     *
     * @throws NexaException if the share is above the limit
     */
    public void require(ScoreOptions options, Path folder, String runId) {
      result.ifPresent(it -> it.require(options, folder.resolve(STEM + runId + ".rejects.jsonl")));
    }
  }

  private ScoreStep() {}

  /**
   * Reads the options: weights, name of the composite score and limits from the settings; rubrics
   * and scale from {@code judge.json} beside the first request file.
   *
   * @throws IllegalArgumentException if a value is wrong
   * @throws NexaException if there is no judge.json
   */
  public static ScoreOptions options(Engine engine, JsonObject settings, List<String> requests) {
    JsonObject judge = judge(engine, requests);
    List<Rubric> rubrics = JudgeSettings.rubrics(judge);
    Map<String, BigDecimal> weights = new LinkedHashMap<>();
    Optional<JsonObject> given = settings.optionalObject("weights");
    given.ifPresent(
        it -> it.members().keySet().forEach(name -> weights.put(name, it.decimal(name))));
    List<String> names = rubrics.stream().map(Rubric::name).toList();
    if (given.isEmpty() && names.containsAll(ScoreOptions.DSS_WEIGHTS.keySet())) {
      weights.putAll(ScoreOptions.DSS_WEIGHTS);
    }
    ScoreOptions options =
        new ScoreOptions(
            rubrics,
            JudgeSettings.scale(judge.object("scale")),
            weights,
            settings.optionalText("composite").orElse(ScoreOptions.DSS),
            settings.optionalDecimal("max_unscored").map(BigDecimal::doubleValue).orElse(0.05),
            settings.optionalDecimal("seed").map(BigDecimal::longValueExact).orElse(42L));
    List<String> problems = options.problems();
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
    return options;
  }

  private static JsonObject judge(Engine engine, List<String> requests) {
    Path first = BatchFiles.find(engine, "requests", requests).get(0);
    Path file = first.toAbsolutePath().resolveSibling(JudgeSettings.FILE);
    if (!Files.exists(file)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          file + " does not exist; it has the rubrics that the judge was asked for",
          "leave the requests in the folder to which `data judge` wrote them");
    }
    try {
      return SchemaVersion.parse(DurableFiles.read(file), file.toString(), JUDGE_NEWEST);
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.EVALUATION_UNUSABLE.error(
          file + ": " + broken.getMessage(), "run `data judge` again");
    }
  }

  /**
   * Parses the judge's answers and writes the files. Makes the folder.
   *
   * @param runId the run whose model is evaluated
   * @param model the model's name; empty if it is not known
   */
  public static Written run(
      Engine engine,
      List<String> requests,
      List<String> answers,
      Path folder,
      ScoreOptions options,
      String runId,
      Optional<String> model,
      Instant now) {
    DurableFiles.onDisk().directories(folder);
    Path lines = folder.resolve("." + STEM + runId + ".jsonl.tmp");

    Path rejects = folder.resolve(STEM + runId + ".rejects.jsonl");
    List<Path> asked = BatchFiles.find(engine, "requests", requests);
    List<Path> came = BatchFiles.find(engine, "answers", answers);
    Score.Result result = Score.run(asked, came, options, lines, rejects);
    Path parquet = folder.resolve(STEM + runId + ".parquet");
    RowFile.toParquet(engine, lines, Score.columns(options), result.longest(), parquet);
    Optional<String> judge = judge(engine, requests).optionalText("model");
    long items = result.items();
    long unscored = result.unscored();
    Optional<Long> seed = Optional.of(options.seed());
    EvalSummary summary =
        new EvalSummary(runId, model, "judge", judge, now, items, unscored, seed, result.metrics());
    JsonObject metrics =
        new JsonObject()
            .with("rows_in", items)
            .with("rows_out", items - unscored)
            .with("rows_rejected", unscored);
    result.counts().addTo(metrics);
    return new Written(finish(summary, folder, metrics), Optional.of(result));
  }

  /**
   * Writes {@code scored.parquet}: the judged rows with their scores beside them, for the step
   * {@code filter}. Rows that were not judged or have no score have no numbers.
   *
   * @param items the rows that {@code judge} read
   * @param id their column of the id
   * @throws NexaException if a column of the rows has the name of a score
   */
  public static void join(Engine engine, List<String> items, String id, Path folder, String runId) {
    Items rows = Items.open(engine, "scored_items", items);
    Path scores = folder.resolve(STEM + runId + ".parquet");
    String read = "read_parquet(" + Sql.text(scores.toString()) + ")";
    String key = rows.id(id, "items_id");
    for (String column :
        engine.column("SELECT column_name FROM (DESCRIBE SELECT * FROM " + read + ")")) {
      if (!column.equals("custom_id") && rows.columns().contains(column)) {
        throw ErrorCode.DATA_INVALID.error(
            "the rows have a column '" + column + "', which is the name of a score's column",
            "rename the column, or the rubric");
      }
    }
    rows.requireUnique("scored_items", key);
    engine.writeInOrder(
        ("SELECT i.*, s.* EXCLUDE (custom_id) FROM (SELECT *, %s AS scored_id FROM scored_items)"
                + " AS i LEFT JOIN %s AS s ON i.scored_id = s.custom_id ORDER BY scored_id")
            .formatted(key, read),
        folder.resolve("scored.parquet"),
        "FORMAT parquet, COMPRESSION zstd");
  }

  /**
   * Copies the files of a run to the folder of all evaluations, which it makes. Its folder {@code
   * reports} gets a link to the summary, {@code outputs} to the items.
   */
  public static void publish(Path folder, String runId, Path evals) {
    for (String kind : List.of("", "reports", "outputs")) {
      DurableFiles.onDisk().directories(evals.resolve(kind));
    }
    for (String end : List.of(".parquet", ".rejects.jsonl", ".json")) {
      String name = STEM + runId + end;
      if (Files.exists(folder.resolve(name))) {
        DurableFiles.onDisk().copy(folder.resolve(name), evals.resolve(name));
        Path kind = evals.resolve(end.equals(".json") ? "reports" : "outputs");
        DurableFiles.onDisk().copy(folder.resolve(name), kind.resolve(name));
      }
    }
  }

  /**
   * Turns results of lm_eval into a summary. Makes the folder.
   *
   * @param pattern a file results_*.json, a pattern, or a folder; if there are several files, the
   *     last file by name counts, because lm_eval puts the time into the name
   * @throws NexaException if there is no such file
   */
  public static Written lmEval(
      Engine engine, String pattern, Path folder, String runId, Instant now) {
    DurableFiles.onDisk().directories(folder);
    String glob = Files.isDirectory(Path.of(pattern)) ? pattern + "/**/results_*.json" : pattern;
    List<String> found = engine.column("SELECT file FROM glob(" + Sql.text(glob) + ") ORDER BY 1");
    if (found.isEmpty()) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there are no results of lm_eval: " + glob,
          "name a results_*.json, or the output_path of lm_eval");
    }
    Path results = Path.of(found.get(found.size() - 1));
    return new Written(
        finish(LmEvalResults.read(results, runId, now), folder, new JsonObject()),
        Optional.empty());
  }

  /** Writes the summary and returns the metrics with its numbers. */
  private static JsonObject finish(EvalSummary summary, Path folder, JsonObject metrics) {
    Path file = folder.resolve(STEM + summary.runId() + ".json");
    DurableFiles.onDisk().replace(file, Json.pretty(summary.json()));
    summary.metrics().forEach(it -> metrics.with(it.name(), MetricSummary.number(it.value())));
    return metrics
        .with("eval_report", file.toAbsolutePath().toString())
        .with("evaluation", summary.json());
  }
}
