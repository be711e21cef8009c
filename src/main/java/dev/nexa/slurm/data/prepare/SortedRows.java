package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.Source;
import java.util.List;

/**
 * The rows that stay, in an order that begins with the key or with the split and the key. Only
 * numbers and keys are sorted. The rows of a file are fetched when the file is written, because a
 * sorted copy of all rows would go to the scratch and back once more. That is fast, because the
 * table {@code data} was filled piece by piece, each piece in the order of its keys: DuckDB skips
 * the blocks whose keys are not in the file.
 */
final class SortedRows implements Output.Slices {
  /** The rows of small files are fetched together. */
  private static final int FETCHED = 100_000;

  private final Engine engine;
  private final String table;
  private final String columns;
  private final String select;
  private long fetchedFrom;
  private long fetchedTo = -1;

  /**
   * Sorts the rows.
   *
   * @param table the name of a new table, which gets {@code key}, {@code n} and the split
   * @param query gives the rows of the table, in order
   * @param columns the number of columns of {@code data}
   * @param select the columns of the output
   */
  SortedRows(Engine engine, String table, String query, int columns, String select) {
    this.engine = engine;
    this.table = table;
    this.select = select;
    this.columns = "key, " + Source.names(columns);
    engine.run("CREATE TABLE " + table + " AS " + query);
  }

  @Override
  public String query(long from, long to) {
    if (to - from >= FETCHED) {
      return "SELECT " + select + " FROM (" + rows(from, to) + ")";
    }
    if (from < fetchedFrom || to > fetchedTo) {
      fetchedFrom = from;
      fetchedTo = from + FETCHED;
      engine.run("CREATE OR REPLACE TEMP TABLE fetched AS " + rows(fetchedFrom, fetchedTo));
    }
    return "SELECT %s FROM fetched WHERE rowid >= %s AND rowid < %s ORDER BY rowid"
        .formatted(select, from - fetchedFrom, to - fetchedFrom);
  }

  /** Returns the query of the rows from one place to another, in order. */
  private String rows(long from, long to) {
    engine.run(
        "CREATE OR REPLACE TEMP TABLE places AS SELECT rowid AS place, key, n FROM %s%s"
            .formatted(table, " WHERE rowid >= " + from + " AND rowid < " + to));
    List<String> ends = engine.rows("SELECT min(key), max(key) FROM places").get(0);
    return ("SELECT %s FROM data JOIN (SELECT place, n FROM places) USING (n) WHERE key >= '%s'"
            + " AND key <= '%s' ORDER BY place")
        .formatted(columns, ends.get(0), ends.get(1));
  }
}
