package dev.nexa.slurm.data.engine;

import java.util.List;
import java.util.stream.Collectors;

/** Quotes names and texts for DuckDB's SQL. */
public final class Sql {
  private Sql() {}

  /** Returns a name in double quotes. */
  public static String name(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** Returns a text in single quotes. DuckDB knows no escapes but the doubled quote. */
  public static String text(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  /** Returns a list of texts. */
  public static String texts(List<String> texts) {
    return texts.stream().map(Sql::text).collect(Collectors.joining(", ", "[", "]"));
  }
}
