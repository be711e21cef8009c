package dev.nexa.slurm.data.engine;

import dev.nexa.slurm.base.files.DurableFiles;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

/** Turns a file of JSON lines that we wrote into a Parquet file with declared columns. */
public final class RowFile {
  /** DuckDB's own limit of a JSON object. A larger one costs memory for each thread. */
  private static final int USUAL_OBJECT = 16 << 20;

  private RowFile() {}

  /**
   * Writes the Parquet file, with the rows in the order of the lines, and removes the lines.
   *
   * @param columns names and DuckDB's types; a column that a line lacks is NULL
   * @param longest the bytes of the longest line
   */
  public static void toParquet(
      Engine engine, Path lines, Map<String, String> columns, int longest, Path parquet) {
    String types =
        columns.entrySet().stream()
            .map(column -> Sql.name(column.getKey()) + ": " + Sql.text(column.getValue()))
            .collect(Collectors.joining(", ", "{", "}"));
    String read =
        ("SELECT * FROM read_json(%s, format = 'newline_delimited', maximum_object_size = %s,"
                + " columns = %s)")
            .formatted(Sql.text(lines.toString()), Math.max(USUAL_OBJECT, longest + 1024), types);
    engine.writeInOrder(read, parquet, "FORMAT parquet, COMPRESSION zstd");
    DurableFiles.onDisk().unmark(lines);
  }
}
