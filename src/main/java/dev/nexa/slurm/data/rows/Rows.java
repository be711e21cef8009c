package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The rows of a task, and the rows that it rejects. The table {@code files(f, path)} numbers the
 * files. The table {@code data} has a row for each row that was read: its number {@code n}, which
 * is also the order of files and rows, and other columns of the stage. The table {@code rejects}
 * has {@code n}, {@code reason}, {@code detail}; a row has at most one. The view {@code kept} is
 * the rows of {@code data} without a reject.
 */
public record Rows(Engine engine) {
  /** A file has fewer rows than this. */
  private static final long FILE = 1L << 40;

  /** For so many broken rows the file's line and its start are looked up. */
  private static final int LOOKED_UP = 1000;

  /** Makes the tables {@code files} and {@code rejects}. */
  public static Rows of(Engine engine, List<InputFile> files) {
    engine.run("CREATE TABLE files (f INTEGER, path VARCHAR)");
    engine.run(
        "CREATE TABLE rejects (n BIGINT, reason VARCHAR, detail VARCHAR, line BIGINT, start VARCHAR)");
    for (int f = 0; f < files.size(); f++) {
      engine.run("INSERT INTO files VALUES (" + f + ", " + Sql.text(files.get(f).path()) + ")");
    }
    return new Rows(engine);
  }

  /** Returns SQL for the number of a row of the view {@code source}, which begins at a place. */
  public static String number(Place place) {
    return "(" + (place.file() * FILE + place.rows()) + " + r)::BIGINT";
  }

  /**
   * Where a part of a file begins.
   *
   * @param file the number of the file
   * @param rows the rows before the part
   * @param lines the ends of lines before the part
   */
  public record Place(int file, long rows, long lines) {
    /** Returns the place after more rows and lines. */
    public Place plus(long moreRows, long moreLines) {
      return new Place(file, rows + moreRows, lines + moreLines);
    }

    /** Returns the SQL condition that a row's number is of this part of the file or a later one. */
    public String from(String number) {
      return number + " > " + (file * FILE + rows) + " AND " + ofFile(number, file);
    }
  }

  /** Returns the SQL condition that a row's number is of a file. */
  public static String ofFile(String number, int file) {
    return number + " // " + FILE + " = " + file;
  }

  /** Makes the view {@code kept}; the table {@code data} must be there. */
  public void keep() {
    engine.run(
        "CREATE VIEW kept AS SELECT * FROM data WHERE NOT EXISTS"
            + " (SELECT 1 FROM rejects WHERE rejects.n = data.n)");
  }

  /**
   * Rejects rows.
   *
   * @param query gives {@code n} and {@code detail} of rows of {@code kept}, each once
   */
  public void reject(String reason, String query) {
    // First a table of its own: a statement does not see the rejects that it makes itself.
    engine.run("CREATE TEMP TABLE rejected AS " + query);
    engine.run(
        "INSERT INTO rejects SELECT n, " + Sql.text(reason) + ", detail, NULL, NULL FROM rejected");
    engine.run("DROP TABLE rejected");
  }

  /**
   * Rejects the rows of a file that could not be read: {@code data.bad} has the detail.
   *
   * @param broken the details of rows that are no rows at all; the others do not fit the columns
   */
  public void rejectUnread(int file, String... broken) {
    engine.run(
        ("INSERT INTO rejects SELECT n, CASE WHEN list_contains(%s, bad) THEN 'broken' ELSE"
                + " 'schema' END, bad, NULL, NULL FROM data WHERE bad IS NOT NULL AND n // %s = %s")
            .formatted(Sql.texts(List.of(broken)), FILE, file));
  }

  /**
   * Adds the line and its start to the broken rows of the part of a JSONL file that was read last.
   *
   * @param path the part, as a file of its own
   */
  public void findLines(Place place, String path, long records) {
    long first = place.file() * FILE + place.rows();
    List<String> broken =
        engine.column(
            "SELECT n - %s FROM rejects WHERE reason = 'broken' AND %s ORDER BY n LIMIT %s"
                .formatted(first, place.from("n"), LOOKED_UP));
    if (broken.isEmpty()) {
      return;
    }
    Map<Long, String> found = new HashMap<>();
    broken.forEach(number -> found.put(Long.parseLong(number), ""));
    long[] last = {0};
    boolean read =
        Lines.visit(
            path,
            (record, line, bytes, start) -> {
              last[0] = record;
              found.computeIfPresent(
                  record,
                  (number, none) ->
                      "UPDATE rejects SET line = %s, start = %s"
                          .formatted(
                              place.lines() + line, Sql.text(start.replace("\0", "\uFFFD"))));
              return true;
            });
    // If Java counts other records than DuckDB, a line would be wrong.
    if (read && last[0] == records) {
      found.forEach((record, update) -> engine.run(update + " WHERE n = " + (first + record)));
    }
  }

  /** Returns how many rows were read. */
  public long in() {
    return engine.number("SELECT count(*) FROM data");
  }

  /** Returns how many rows are rejected, by reason. */
  public Map<String, Long> rejected() {
    Map<String, Long> counts = new TreeMap<>();
    engine
        .rows("SELECT reason, count(*) FROM rejects GROUP BY 1")
        .forEach(row -> counts.put(row.get(0), Long.parseLong(row.get(1))));
    return counts;
  }

  /**
   * Returns the query of the reject file: file, row, line, reason, detail, start; in order.
   *
   * @param more the columns from the start on
   */
  public static String rejectQuery(String more) {
    return ("SELECT f.path AS file, x.n %% %s AS row, x.line, x.reason, x.detail, %s FROM rejects x"
            + " JOIN files f ON f.f = x.n // %s JOIN data d ON d.n = x.n ORDER BY x.n")
        .formatted(FILE, more, FILE);
  }

  /** Returns SQL for {@code FILE row N} of a row's number. */
  public static String place(String number) {
    return "(SELECT path FROM files WHERE f = %s // %s) || ' row ' || (%s %% %s)"
        .formatted(number, FILE, number, FILE);
  }
}
