package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonNesting;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Lines;
import dev.nexa.slurm.data.rows.TaskReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Rows of items in files, as a view in DuckDB with the columns of the files.
 *
 * @param shown the files, for messages
 * @param columns the names of the columns
 */
public record Items(Engine engine, String shown, List<String> columns) {

  /**
   * Makes a view of the files.
   *
   * @param view its name
   * @param patterns files or patterns, all .parquet or all .jsonl; for a folder, its
   *     generated.parquet or science_eval_*.parquet
   * @throws NexaException if there is no such file
   */
  public static Items open(Engine engine, String view, List<String> patterns) {
    List<String> files = new ArrayList<>();
    for (String pattern : patterns) {
      List<String> found = find(engine, pattern);
      if (found.isEmpty()) {
        throw ErrorCode.FILE_NOT_FOUND.error(
            "there is no file of items: " + pattern,
            "name a .parquet or .jsonl file, a pattern, or a folder of a data stage");
      }
      TaskReport.require(pattern, found, name -> false);
      files.addAll(found);
    }
    boolean parquet = files.stream().allMatch(file -> file.endsWith(".parquet"));
    if (!parquet && files.stream().anyMatch(file -> file.endsWith(".parquet"))) {
      throw ErrorCode.DATA_INVALID.error(
          "the files of items are .parquet and others: " + files, "name files of one format");
    }
    if (!parquet) {
      files.forEach(Items::requireFlat);
    }
    String read =
        parquet
            ? "read_parquet(" + Sql.texts(files) + ", union_by_name = true)"
            : ("read_json(%s, format = 'newline_delimited', union_by_name = true,"
                    + " maximum_object_size = %s)")
                .formatted(Sql.texts(files), 32 << 20);
    engine.run("CREATE OR REPLACE TEMP VIEW " + view + " AS SELECT * FROM " + read);
    List<String> columns = engine.column("SELECT column_name FROM (DESCRIBE " + view + ")");
    return new Items(engine, String.join(", ", patterns), columns);
  }

  /** DuckDB would overflow its stack, which kills the process without a message. */
  private static void requireFlat(String file) {
    OptionalLong line = Lines.tooDeep(file);
    if (line.isPresent()) {
      throw ErrorCode.DATA_INVALID.error(
          "%s:%s: expected at most %s levels of arrays and objects"
              .formatted(file, line.getAsLong(), JsonNesting.DEEPEST),
          "correct the line, or leave the file out");
    }
  }

  private static List<String> find(Engine engine, String pattern) {
    Path path = Path.of(pattern);
    Path generated = path.resolve("generated.parquet");
    Path evaluated = path.resolve("science_eval_*.parquet");
    return Files.exists(generated)
        ? List.of(generated.toString())
        : InputFile.paths(
            engine, Files.isDirectory(path) ? evaluated.toString() : pattern, "", name -> true);
  }

  /** Returns whether the files have a column. */
  public boolean has(String column) {
    return columns.contains(column);
  }

  /**
   * Returns the column.
   *
   * @param key the key that names it, for the message
   * @throws NexaException if the files lack it
   */
  public String require(String column, String key) {
    if (!has(column)) {
      throw ErrorCode.DATA_INVALID.error(
          "%s: there is no column '%s'%s; its columns are %s"
              .formatted(shown, column, Nearest.hint(column, columns), String.join(", ", columns)),
          "change " + key);
    }
    return column;
  }

  /**
   * Returns SQL for the id of an item: the column, and the number of the text if a request has
   * several.
   *
   * @param column the column of the id
   * @param key the key that names it, for the message
   */
  String id(String column, String key) {
    String choice = has("choice") ? "CASE WHEN choice > 0 THEN '#' || choice ELSE '' END" : "''";
    return Sql.name(require(column, key)) + "::VARCHAR || " + choice;
  }

  /**
   * Checks that each row has an id, and that no two rows have the same id.
   *
   * @param from a table or a query in parentheses
   * @param id an expression for the id
   * @throws NexaException if an id is there twice; the message names it
   */
  public void requireUnique(String from, String id) {
    List<List<String>> twice =
        engine.rows(
            ("SELECT id, count(*) FROM (SELECT %s AS id FROM %s) WHERE id IS NOT NULL GROUP BY"
                    + " id HAVING count(*) > 1 ORDER BY id LIMIT 1")
                .formatted(id, from));
    if (!twice.isEmpty()) {
      throw ErrorCode.DATA_INVALID.error(
          "%s: the id '%s' is there %s times"
              .formatted(shown, twice.get(0).get(0), twice.get(0).get(1)),
          "items are matched by their id, so each id must be there once");
    }
  }
}
