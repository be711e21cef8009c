package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.JsonLines;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.rows.TaskReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The step {@code judge}: rows become requests to a judge, {@code judge-requests-NNNNN.jsonl}.
 *
 * <p>Beside them lies {@code judge.json} with the rubrics and the scale, which the step {@code
 * score} reads.
 */
public final class JudgeStep {
  private static final String STEM = "judge-requests-";

  private final Engine engine;
  private final JudgeSettings settings;
  private final Path folder;
  private final List<String> files = new ArrayList<>();

  /** The request file that is open, and its lines. */
  private Optional<StagedFile> open = Optional.empty();

  private int rows;
  private long in;
  private long out;

  private JudgeStep(Engine engine, JudgeSettings settings, Path folder) {
    this.engine = engine;
    this.settings = settings;
    this.folder = folder;
  }

  /**
   * Writes the requests. Makes the folder, and removes requests of an earlier attempt.
   *
   * @param input files of rows, .parquet or .jsonl
   * @return the metrics: rows_in = rows_out + rows_rejected
   */
  public static JsonObject run(
      Engine engine, List<String> input, Path folder, JudgeSettings settings) {
    DurableFiles.onDisk().directories(folder);
    DurableFiles.list(folder, STEM + "*.jsonl").forEach(DurableFiles.onDisk()::unmark);
    JudgeStep step = new JudgeStep(engine, settings, folder);
    Path lines = folder.resolve(".judge.jsonl.tmp");
    long all = step.select(input, lines);
    step.write(lines);
    DurableFiles.onDisk().unmark(lines);
    DurableFiles.onDisk()
        .replace(folder.resolve(JudgeSettings.FILE), Json.pretty(settings.rubricsJson()));
    JsonObject metrics =
        new JsonObject()
            .with("rows_in", step.in)
            .with("rows_out", step.out)
            .with("rows_rejected", step.in - step.out)
            .with("rows_not_sampled", all - step.in);
    TaskReport.write(folder, 0, metrics, step.files);
    return metrics;
  }

  /** Writes the columns of the sampled rows as JSON lines, ordered by id. Returns all rows. */
  private long select(List<String> input, Path lines) {
    Items items = Items.open(engine, "judged", input);
    String id = items.id(settings.idColumn(), "columns.id");
    String reference =
        settings
            .referenceColumn()
            .map(name -> Sql.name(items.require(name, "columns.reference")) + "::VARCHAR")
            .orElse("NULL");
    String query =
        ("SELECT %s AS id, %s::VARCHAR AS prompt, %s::VARCHAR AS completion, %s AS reference"
                + " FROM judged")
            .formatted(
                id,
                Sql.name(items.require(settings.promptColumn(), "columns.prompt")),
                Sql.name(items.require(settings.completionColumn(), "columns.completion")),
                reference);
    // The sample depends on ids and seed only, so two runs are judged on the same items.
    String sampled =
        settings.sample().isEmpty()
            ? query
            : "SELECT * FROM (%s) ORDER BY md5(id || '/%s'), id LIMIT %s"
                .formatted(query, settings.seed(), settings.sample().get());
    engine.writeInOrder("SELECT * FROM (" + sampled + ") ORDER BY id", lines, "FORMAT json");
    items.requireUnique("(SELECT id FROM (" + query + "))", "id");
    return engine.number("SELECT count(*) FROM judged");
  }

  private void write(Path lines) {
    try (StagedFile rejects = new StagedFile(folder.resolve("judge.rejects.jsonl"))) {
      JsonLines.read(lines, line -> write(line, rejects));
      end();
      rejects.commit();
    } finally {
      open.ifPresent(StagedFile::close);
    }
  }

  private void write(JsonLines.Line line, StagedFile rejects) {
    in++;
    JsonObject row;
    try {
      row = Json.parseObject(line.text());
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.DATA_INVALID.error(
          line.place() + ": " + broken.getMessage(),
          "look for a text of many megabytes in the rows");
    }
    Optional<String> prompt = row.optionalText("prompt");
    Optional<String> completion = row.optionalText("completion");
    String id = row.optionalText("id").orElse("");
    if (id.isEmpty() || prompt.isEmpty() || completion.isEmpty()) {
      String missing = id.isEmpty() ? "id" : prompt.isEmpty() ? "prompt" : "completion";
      JsonObject reject = new JsonObject().with("custom_id", id);
      rejects.line(Json.compact(reject.with("reason", "the row has no " + missing)));
      return;
    }
    out++;
    JudgeRequest.Item item =
        new JudgeRequest.Item(id, prompt.get(), completion.get(), row.optionalText("reference"));
    JsonObject request =
        JudgeRequest.of(item, settings.rubrics(), settings.scale(), settings.judge());
    if (rows == settings.rowsPerFile()) {
      end();
    }
    if (open.isEmpty()) {
      String name = String.format(STEM + "%05d.jsonl", files.size());
      open = Optional.of(new StagedFile(folder.resolve(name)));
      files.add(name);
    }
    open.get().line(Json.compact(request));
    rows++;
  }

  /** Ends the request file that is open. */
  private void end() {
    open.ifPresent(StagedFile::commit);
    open = Optional.empty();
    rows = 0;
  }
}
