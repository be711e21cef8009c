package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.data.engine.DataException;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Reads files as declared columns. {@link #open} makes the view {@code source} of a file with
 * {@code r}, the number of the row from 1, {@code bad}, the reason why the row is none, or NULL,
 * and the columns with their types.
 *
 * @param maxRow the most bytes of a row of JSONL or CSV
 */
public record Source(Engine engine, List<Column> columns, long maxRow) {
  /** The table with the lines of the file that is open. */
  private static final String RAW = "raw_lines";

  /** A name of a CSV file's first line, and the comma after it. */
  private static final Pattern HEADER = Pattern.compile("\\G(\"(?:[^\"]|\"\")*\"|[^,\"]*)(,|$)");

  /**
   * DuckDB's message about a CSV file: the line, its text, and what is wrong. A value whose quote
   * is never closed makes the text some lines long.
   */
  private static final Pattern CSV_ERROR =
      Pattern.compile(
          "(?s).*?CSV Error on Line: (\\d+)\\s*\nOriginal Line:"
              + "(?:.*\n(?=Value with unterminated)|[^\n]*\n+)([^\n]+).*");

  /**
   * Makes the view {@code source} of a file.
   *
   * @throws NexaException if the file lacks a column, or holds a row that is too long
   */
  public void open(InputFile file) {
    open(file, file.path());
  }

  /**
   * Makes the view {@code source} of a copy of a part of a file.
   *
   * @param file the copy
   * @param original the path of the whole file, which messages name
   */
  public void open(InputFile file, String original) {
    close();
    String select =
        switch (file.format()) {
          case JSONL -> json(file.path(), original);
          case CSV -> csv(file.path());
          case PARQUET -> parquet(file.path());
        };
    engine.run("CREATE TEMP VIEW source AS " + select);
  }

  /**
   * Checks that some row of the open file has a value, in a file whose columns are all optional.
   *
   * @param key the key of the config that names the columns
   */
  public void requireRows(InputFile file, String key) {
    String any = "coalesce(" + names(columns.size()) + ") IS NOT NULL";
    if (engine.number("SELECT count(*) FROM source WHERE bad IS NULL AND " + any) == 0) {
      throw ErrorCode.DATA_INVALID.error(
          file.path()
              + ": no row has text in "
              + String.join(", ", columns.stream().map(Column::name).toList()),
          "name the columns with text in data.prepare." + key);
    }
  }

  /** Removes what {@link #open} made. */
  public void close() {
    engine.run("DROP VIEW IF EXISTS source");
    engine.run("DROP TABLE IF EXISTS " + RAW);
  }

  /** A line that is no JSON becomes NULL here, and keeps its place. */
  private String json(String path, String original) {
    load(
        original,
        ("SELECT json FROM read_ndjson_objects(%s, ignore_errors = true, maximum_object_size ="
                + " %s)")
            .formatted(Sql.text(path), maxRow));
    // DuckDB takes the mark for broken JSON.
    Lines.afterMark(path)
        .ifPresent(
            line ->
                engine.run(
                    ("UPDATE %s SET json = (SELECT CASE WHEN json_valid(l) THEN l::JSON END"
                            + " FROM (SELECT %s AS l)) WHERE rowid = 0 AND json IS NULL")
                        .formatted(RAW, Sql.text(line))));
    List<String> paths =
        columns.stream()
            .map(column -> column.name().replace("\\", "\\\\").replace("\"", "\\\""))
            .map(quoted -> "$.\"" + quoted + "\"")
            .toList();
    List<String> values = new ArrayList<>();
    List<String> wrongs = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      String text = "texts[" + (i + 1) + "]";
      String kind = "kinds[" + (i + 1) + "]";
      // Parses the line again, so only values that are shown or are JSON columns use it.
      String json = "json_extract(json, " + Sql.text(paths.get(i)) + ")";
      String none = "(" + kind + " IS NULL OR " + kind + " = 'NULL')";
      String fits =
          switch (columns.get(i).type()) {
            case TEXT -> kind + " = 'VARCHAR'";
            case INTEGER ->
                kind + " IN ('BIGINT', 'UBIGINT') AND TRY_CAST(" + text + " AS BIGINT) IS NOT NULL";
            case NUMBER -> kind + " IN ('BIGINT', 'UBIGINT', 'DOUBLE')";
            case BOOLEAN -> kind + " = 'BOOLEAN'";
            case JSON -> "true";
          };
      String typed =
          switch (columns.get(i).type()) {
            case TEXT -> text;
            case JSON -> json;
            default -> "TRY_CAST(" + text + " AS " + columns.get(i).type().sql() + ")";
          };
      values.add(
          "CASE WHEN NOT " + none + " AND " + fits + " THEN " + typed + " END AS " + name(i));
      wrongs.add(wrong(columns.get(i), none, fits, json + "::VARCHAR"));
    }
    String all = Sql.texts(paths);
    // One call for all paths parses the line once. A valid line is an object if it starts as one.
    return ("SELECT r, CASE WHEN broken IS NOT NULL THEN broken %s END AS bad, %s FROM (SELECT r,"
            + " json, broken, CASE WHEN broken IS NULL THEN json_type(json, %s) END AS kinds, CASE"
            + " WHEN broken IS NULL THEN json_extract_string(json, %s) END AS texts FROM (SELECT"
            + " rowid + 1 AS r, json, CASE WHEN json IS NULL OR NOT json_valid(json) THEN 'broken"
            + " JSON' WHEN NOT starts_with(ltrim(json, ' ' || chr(9) || chr(10) || chr(13)), '{')"
            + " THEN 'no JSON object' END AS broken FROM %s))")
        .formatted(String.join(" ", wrongs), String.join(", ", values), all, all, RAW);
  }

  private String csv(String path) {
    List<String> header = header(path);
    requireColumns(path, header);
    String declared = listed(header.size(), i -> Sql.text(header.get(i)) + ": 'VARCHAR'");
    // Nothing is guessed: a guess from the first rows would differ between files.
    String read =
        ("read_csv(%s, auto_detect = false, header = true, delim = ',', quote = '\"', escape ="
                + " '\"', columns = {%s}, strict_mode = true, max_line_size = %s, buffer_size ="
                + " %s)")
            .formatted(Sql.text(path), declared, maxRow, 2 * maxRow);
    load(path, "SELECT * FROM " + read);
    List<String> values = new ArrayList<>();
    List<String> wrongs = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      Column column = columns.get(i);
      String value = header.contains(column.name()) ? Sql.name(column.name()) : "NULL::VARCHAR";
      String cast = "TRY_CAST(" + value + " AS " + column.type().sql() + ")";
      String fits =
          switch (column.type()) {
            case TEXT -> "true";
            case INTEGER ->
                "regexp_full_match(" + value + ", '-?[0-9]+') AND " + cast + " IS NOT NULL";
            case JSON -> "json_valid(" + value + ")";
            default -> cast + " IS NOT NULL";
          };
      values.add("CASE WHEN " + fits + " THEN " + cast + " END AS " + name(i));
      wrongs.add(wrong(column, "(" + value + " IS NULL)", fits, value));
    }
    return "SELECT rowid + 1 AS r, CASE %s END AS bad, %s FROM %s"
        .formatted(String.join(" ", wrongs), String.join(", ", values), RAW);
  }

  /**
   * Returns which line of a CSV file is wrong, and why, such as {@code FILE:3: Expected Number of
   * Columns: 3 Found: 2}; empty if the failure is of another kind.
   */
  static Optional<String> csvProblem(String path, DataException failed) {
    Matcher csv = CSV_ERROR.matcher(String.valueOf(failed.getMessage()));
    return csv.matches()
        ? Optional.of(path + ":" + csv.group(1) + ": " + csv.group(2).strip())
        : Optional.empty();
  }

  /** Returns the names in the first line, which may be quoted. */
  List<String> header(String path) {
    List<String> lines =
        engine.column(
            ("SELECT line FROM read_csv(%s, auto_detect = false, header = false, delim = chr(1),"
                    + " quote = '', escape = '', columns = {'line': 'VARCHAR'}, strict_mode ="
                    + " false, ignore_errors = true, buffer_size = %s, max_line_size = %s) LIMIT 1")
                .formatted(Sql.text(path), 2 * maxRow, maxRow));
    List<String> names = new ArrayList<>();
    String line = lines.isEmpty() ? "" : lines.get(0).replaceFirst("^\uFEFF", "");
    Matcher name = HEADER.matcher(line);
    while (name.find() && names.size() <= line.length()) {
      String text = name.group(1);
      boolean quoted = text.startsWith("\"");
      names.add(quoted ? text.substring(1, text.length() - 1).replace("\"\"", "\"") : text);
      if (name.end() == line.length() && name.group(2).isEmpty()) {
        break;
      }
    }
    return names;
  }

  private String parquet(String path) {
    String read = "read_parquet(" + Sql.text(path) + ", file_row_number = true)";
    Map<String, String> found = types(read);
    requireColumns(path, found.keySet());
    List<String> values = new ArrayList<>();
    List<String> wrongs = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      Column column = columns.get(i);
      String type = found.getOrDefault(column.name(), "");
      if (!type.isEmpty() && !holds(column.type(), type)) {
        throw ErrorCode.DATA_INVALID.error(
            "%s: the column '%s' is %s, expected %s"
                .formatted(path, column.name(), type, column.type().text()),
            "change data.prepare.columns, or leave the file out");
      }
      String value = type.isEmpty() ? "NULL" : Sql.name(column.name());
      String typed =
          column.type() == Column.Type.JSON && !type.equals("JSON")
              ? "to_json(" + value + ")"
              : value;
      String cast = "TRY_CAST(" + typed + " AS " + column.type().sql() + ")";
      values.add(cast + " AS " + name(i));
      wrongs.add(
          wrong(column, "(" + value + " IS NULL)", cast + " IS NOT NULL", value + "::VARCHAR"));
    }
    return "SELECT file_row_number + 1 AS r, CASE %s END AS bad, %s FROM %s"
        .formatted(String.join(" ", wrongs), String.join(", ", values), read);
  }

  private static boolean holds(Column.Type type, String found) {
    return switch (type) {
      case TEXT -> found.equals("VARCHAR") || found.startsWith("ENUM");
      case INTEGER -> found.matches("U?(TINYINT|SMALLINT|INTEGER|BIGINT)");
      case NUMBER -> found.matches("U?(TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|DECIMAL.*");
      case BOOLEAN -> found.equals("BOOLEAN");
      case JSON -> true;
    };
  }

  /** Returns the WHEN branches that name what is wrong with a value. */
  private static String wrong(Column column, String none, String fits, String shown) {
    String place = "column " + column.name() + ": ";
    String missing =
        column.optional() ? "" : "WHEN " + none + " THEN " + Sql.text(place + "missing") + " ";
    String expected = place + "expected " + column.type().text() + ", got ";
    return missing
        + ("WHEN NOT " + none + " AND NOT (" + fits + ") THEN ")
        + (Sql.text(expected) + " || left(" + shown + ", 40)");
  }

  /** Returns the name of a column in the tables: its own may clash with ours. */
  public static String name(int column) {
    return "c" + column;
  }

  /** Returns the names of the first columns in {@code source}, separated by commas. */
  public static String names(int columns) {
    return listed(columns, Source::name);
  }

  /** Returns the names of some columns in {@code source}, separated by commas. */
  public static String names(List<Integer> columns) {
    return listed(columns.size(), i -> name(columns.get(i)));
  }

  /**
   * Returns SQL that gives the columns of {@code source} their declared names.
   *
   * @param table names the table of the columns, such as {@code d.}; empty if that is clear
   */
  public static String renamed(String table, List<Column> columns) {
    return listed(columns.size(), i -> table + name(i) + " AS " + Sql.name(columns.get(i).name()));
  }

  /** Returns the columns of {@code source} with their types, for a new table. */
  public static String typed(List<Column> columns) {
    return listed(columns.size(), i -> name(i) + " " + columns.get(i).type().sql());
  }

  /** Returns SQL for each of the first columns, separated by commas. */
  static String listed(int columns, IntFunction<String> column) {
    return IntStream.range(0, columns).mapToObj(column).collect(Collectors.joining(", "));
  }

  /** Copies the rows of the file in their order; their place is then the table's {@code rowid}. */
  private void load(String path, String select) {
    try {
      engine.run("SET preserve_insertion_order = true");
      engine.run("CREATE TEMP TABLE " + RAW + " AS " + select);
    } catch (DataException failed) {
      Optional<String> csv = csvProblem(path, failed);
      if (csv.isPresent()) {
        Advice correct = Advice.step("correct the line, or leave the file out");
        throw ErrorCode.DATA_INVALID.error(csv.get(), failed, correct);
      }
      throw Lines.longer(path, maxRow)
          .filter(found -> String.valueOf(failed.getMessage()).contains("maximum_object_size"))
          .<NexaException>map(
              found ->
                  ErrorCode.DATA_INVALID.error(
                      "%s:%s: the line has %s bytes, more than max_row, which is %s"
                          .formatted(path, found[0], found[1], maxRow),
                      "raise data.prepare.max_row, which needs three times as much memory, or"
                          + " take the line out"))
          .orElse(failed);
    } finally {
      engine.run("SET preserve_insertion_order = false");
    }
  }

  private Map<String, String> types(String relation) {
    Map<String, String> types = new LinkedHashMap<>();
    engine
        .rows("DESCRIBE SELECT * FROM " + relation)
        .forEach(row -> types.put(row.get(0), row.get(1)));
    types.remove("file_row_number");
    return types;
  }

  private void requireColumns(String path, Collection<String> names) {
    String there = names.isEmpty() ? "none" : String.join(", ", names);
    for (Column column : columns) {
      if (!column.optional() && !names.contains(column.name())) {
        throw ErrorCode.DATA_INVALID.error(
            "%s: there is no column '%s'%s; its columns are %s"
                .formatted(path, column.name(), Nearest.hint(column.name(), names), there),
            "change data.prepare.columns, or leave the file out");
      }
    }
  }
}
