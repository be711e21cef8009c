package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.OwnProgram;
import dev.nexa.slurm.data.engine.Engine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The folder that a stage writes to. Each task removes what its earlier attempts left. */
public final class Output {
  /**
   * The options of COPY for Parquet files. DuckDB writes row groups in parallel; with its usual
   * size a file has one or few.
   */
  public static final String PARQUET = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480";

  private final Engine engine;
  private final Path folder;
  private final Share share;
  private final List<String> files = new ArrayList<>();
  private long bytes;

  private Output(Engine engine, Path folder, Share share) {
    this.engine = engine;
    this.folder = folder;
    this.share = share;
  }

  /**
   * Makes the folder, and removes the files of an earlier attempt of this task.
   *
   * @param stems the first parts of the files' names, such as {@code train}
   */
  public static Output in(Engine engine, Path folder, Share share, List<String> stems) {
    DurableFiles.onDisk().directories(folder);
    String stem = "[.]?(rejects|report|\\Q" + String.join("\\E|\\Q", stems) + "\\E)";
    String task = share.all() ? "" : String.format("-%05d", share.task());
    String own = stem + task + "(-[0-9]{5})?[.](parquet|jsonl|json)([.]tmp)?";
    DurableFiles.list(folder, "*").stream()
        .filter(file -> file.getFileName().toString().matches(own))
        .forEach(DurableFiles.onDisk()::unmark);
    return new Output(engine, folder, share);
  }

  /** Rows in an order, numbered from 0. */
  @FunctionalInterface
  public interface Slices {
    /** Returns a query of the rows from one number to before another, in order. */
    String query(long from, long to);

    /** Returns the same rows without the first ones. */
    default Slices from(long first) {
      return (from, to) -> query(first + from, first + to);
    }

    /**
     * Returns the rows of a table in its order.
     *
     * @param select the columns, without FROM
     */
    static Slices of(String table, String select) {
      return (from, to) ->
          "SELECT %s FROM %s WHERE rowid >= %s AND rowid < %s ORDER BY rowid"
              .formatted(select, table, from, to);
    }
  }

  /**
   * Writes rows in files of at most so many rows. Of no rows there is one file, so that readers
   * find its columns.
   *
   * @param rows the number of rows
   */
  public void files(String stem, Slices slices, long rows, int perFile, boolean json) {
    int number = 0;
    for (long at = 0; at < Math.max(1, rows); at += perFile) {
      String name = share.fileName(stem, number++, json ? "jsonl" : "parquet");
      String query = slices.query(at, Math.min(at + perFile, rows));
      write(query, name, json ? "FORMAT json" : PARQUET);
    }
  }

  /** Writes one file. */
  public void write(String query, String name, String options) {
    bytes += engine.write(query, folder.resolve(name), options);
    files.add(name);
  }

  /** Writes {@code rejects-NNNNN.parquet}; the number is the task's. */
  public void rejects(String query) {
    write(query, String.format("rejects-%05d.parquet", share.task()), PARQUET);
  }

  /**
   * Writes {@code report-NNNNN.json} and returns what the run's metrics get: the counts, the bytes
   * that were written, and the digest of this program.
   *
   * @param written the rows that the stage wrote
   * @param more further counts
   * @param details what only the report gets
   */
  public JsonObject report(Rows rows, long written, Map<String, Long> more, JsonObject details) {
    Map<String, Long> rejected = rows.rejected();
    long out = rejected.values().stream().mapToLong(Long::longValue).sum();
    if (rows.in() != written + out) {
      throw new IllegalStateException(
          rows.in() + " rows were read, " + written + " written and " + out + " rejected");
    }
    JsonObject metrics =
        new JsonObject()
            .with("rows_in", rows.in())
            .with("rows_out", written)
            .with("rows_rejected", out);
    rejected.forEach(
        (reason, count) -> metrics.with("rejected_" + reason.replace(' ', '_'), count));
    more.forEach(metrics::with);
    return report(metrics, details);
  }

  /** Writes the report of a stage that neither reads nor writes rows, and returns the metrics. */
  public JsonObject report(JsonObject counts) {
    return report(counts, new JsonObject());
  }

  private JsonObject report(JsonObject metrics, JsonObject details) {
    metrics.with("bytes", bytes).with("program_sha256", OwnProgram.files().get(0).sha256());
    JsonObject report = new JsonObject();
    metrics.members().forEach(report::with);
    details.members().forEach(report::with);
    TaskReport.write(folder, share.task(), report, files);
    return metrics;
  }
}
