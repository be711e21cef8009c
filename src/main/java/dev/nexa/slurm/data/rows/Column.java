package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.InLowerCase;
import java.util.ArrayList;
import java.util.List;

/**
 * A declared column.
 *
 * @param name its name in the files
 * @param type the type of its values
 * @param optional whether a row may lack it
 */
public record Column(String name, Type type, boolean optional) {
  /** The types, with DuckDB's names. */
  public enum Type implements InLowerCase {
    TEXT("VARCHAR"),
    INTEGER("BIGINT"),
    NUMBER("DOUBLE"),
    BOOLEAN("BOOLEAN"),
    /** Any JSON value, kept as its text. */
    JSON("JSON");

    private final String sql;

    Type(String sql) {
      this.sql = sql;
    }

    public String sql() {
      return sql;
    }
  }

  /** Reads {@code {"name": "text", "year": "integer?"}}, in its order. */
  public static List<Column> of(JsonObject declared) {
    List<Column> columns = new ArrayList<>();
    for (String name : declared.members().keySet()) {
      String type = declared.text(name);
      boolean optional = type.endsWith("?");
      String word = optional ? type.substring(0, type.length() - 1) : type;
      columns.add(new Column(name, type(name, word), optional));
    }
    return columns;
  }

  /** Returns the number of a column among all columns. */
  public static int number(List<Column> columns, String name) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException("no column " + name + " in \"columns\"");
  }

  private static Type type(String name, String word) {
    List<String> words = new ArrayList<>();
    for (Type type : Type.values()) {
      if (type.text().equals(word)) {
        return type;
      }
      words.add(type.text());
    }
    throw new IllegalArgumentException(
        "columns." + name + ": expected " + String.join(", ", words) + ", got '" + word + "'");
  }
}
