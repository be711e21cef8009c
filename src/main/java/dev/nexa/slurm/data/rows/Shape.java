package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.data.engine.DataException;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts the rows and finds the columns of data files, some hundred files at a time. Files whose
 * names say no known format, and the reports and rejects of our own stages, are only counted.
 */
public final class Shape {
  private static final int AT_ONCE = 500;

  /** The longest line of a CSV file. DuckDB reads twice as much at a time. */
  private static final long LONGEST_LINE = 16L << 20;

  /** A CSV file as docs/data.md describes it. DuckDB must not take commas for part of a name. */
  private static final String COMMAS =
      (", header = true, delim = ',', quote = '\"', escape = '\"', strict_mode = true,"
              + " max_line_size = %s, buffer_size = %s")
          .formatted(LONGEST_LINE, 2 * LONGEST_LINE);

  private final Engine engine;
  private final Map<InputFile.Format, List<String>> waiting = new LinkedHashMap<>();
  private final Map<String, String> columns = new LinkedHashMap<>();
  private final List<String> problems = new ArrayList<>();
  private long rows;
  private long read;
  private long others;

  public Shape(Engine engine) {
    this.engine = engine;
  }

  /** Adds a file by its absolute path. */
  public void add(String path) {
    if (!InputFile.isReadable(path)) {
      others++;
      return;
    }
    InputFile.Format format = InputFile.format(path);
    List<String> paths = waiting.computeIfAbsent(format, some -> new ArrayList<>());
    paths.add(path);
    if (paths.size() >= AT_ONCE) {
      look(format, paths);
    }
  }

  /**
   * Returns whether the file is read as JSONL: plain, or compressed with gz or zst.
   *
   * @param path its path, absolute or not
   */
  public static boolean isJsonLines(String path) {
    return InputFile.isReadable(path) && InputFile.format(path) == InputFile.Format.JSONL;
  }

  /** Adds a reason why the rows cannot be counted. */
  public void refuse(String problem) {
    problems.add(problem);
  }

  /** Reads what waits. Call this after the last file. */
  public void finish() {
    waiting.forEach(this::look);
  }

  private void look(InputFile.Format format, List<String> paths) {
    if (format == InputFile.Format.CSV) {
      paths.removeIf(path -> !countCsv(path));
    }
    if (paths.isEmpty()) {
      return;
    }
    String list = Sql.texts(paths);
    String table =
        switch (format) {
          case PARQUET -> "read_parquet(" + list + ", union_by_name = true)";
          case CSV -> "read_csv(" + list + ", union_by_name = true" + COMMAS + ")";
          case JSONL ->
              "read_json(" + list + ", format = 'newline_delimited', union_by_name = true)";
        };
    String count =
        switch (format) {
          case PARQUET -> "SELECT sum(num_rows) FROM parquet_file_metadata(" + list + ")";
          case CSV -> "SELECT 0"; // Counted file by file, so that a problem names its file.
          case JSONL -> "SELECT count(*) FROM read_ndjson_objects(" + list + ")";
        };
    try {
      for (List<String> column :
          engine.rows(
              "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + table + ")")) {
        columns.merge(
            column.get(0),
            column.get(1),
            (one, other) -> one.equals(other) ? one : one + " or " + other);
      }
      rows += engine.number(count);
      read += paths.size();
    } catch (DataException broken) {
      problems.add(firstLine(broken));
    }
    paths.clear();
  }

  /**
   * Counts the rows of a CSV file. Each row must have a field for each name of the first line. If
   * DuckDB guesses the form of a file, a row that lacks a field makes all names one column.
   *
   * @return false if a row differs; then a problem names it
   */
  private boolean countCsv(String path) {
    try {
      int fields = new Source(engine, List.of(), LONGEST_LINE).header(path).size();
      String declared = Source.listed(Math.max(1, fields), i -> "'c" + i + "': 'VARCHAR'");
      rows +=
          engine.number(
              "SELECT count(*) FROM read_csv(%s, auto_detect = false, columns = {%s}%s)"
                  .formatted(Sql.text(path), declared, COMMAS));
      return true;
    } catch (DataException broken) {
      problems.add(
          Source.csvProblem(path, broken).orElseGet(() -> path + ": " + firstLine(broken)));
      return false;
    }
  }

  private static String firstLine(DataException broken) {
    return String.valueOf(broken.getMessage()).lines().findFirst().orElse("");
  }

  /** Returns the columns with DuckDB's names of their types, in the order of the files. */
  public Map<String, String> columns() {
    return columns;
  }

  /** Returns the rows of all files that were read. */
  public long rows() {
    return rows;
  }

  /** Returns the number of files that were read. */
  public long read() {
    return read;
  }

  /** Returns the number of files whose rows cannot be counted. */
  public long others() {
    return others;
  }

  /** Returns why files of a known format could not be read. */
  public List<String> problems() {
    return problems;
  }
}
