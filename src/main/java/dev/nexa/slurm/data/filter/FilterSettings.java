package dev.nexa.slurm.data.filter;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.rows.Column;
import dev.nexa.slurm.data.rows.Source;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * The settings of {@code data filter}, as the config's {@code data.filter} has them.
 *
 * @param columns the columns that each row has
 * @param rules conditions on columns: the keys of the config
 * @param agreement how much judges may differ; empty if that does not matter
 * @param best how many rows of a group stay; empty for all
 * @param conversations whether the rows are also written as conversations, for training
 * @param rowsPerFile the most rows of a Parquet file
 * @param maxRow the most bytes of a row
 */
public record FilterSettings(
    List<Column> columns,
    List<JsonObject> rules,
    Optional<Agreement> agreement,
    Optional<Best> best,
    boolean conversations,
    int rowsPerFile,
    long maxRow) {

  /**
   * How much judges may differ.
   *
   * @param columns the judges' scores
   * @param most the greatest difference
   */
  public record Agreement(List<String> columns, BigDecimal most) {}

  /**
   * The best rows of each group.
   *
   * @param key the column that rows of a group have in common
   * @param by the column whose greatest values stay
   * @param keep how many stay
   */
  public record Best(String key, String by, long keep) {}

  /** Reads the settings, which have all defaults. The config's schema has checked them. */
  public static FilterSettings of(JsonObject json) {

    return new FilterSettings(
        Column.of(json.object("columns")),
        json.members().containsKey("rules") ? json.objects("rules") : List.of(),
        json.optionalObject("agreement")
            .map(one -> new Agreement(one.texts("columns"), one.decimal("max_difference"))),
        json.optionalObject("best_of").map(one -> Codec.read(one, Best.class)),
        json.flag("conversations"),
        (int) json.number("rows_per_file"),
        json.number("max_row"));
  }

  /** Returns whether there is such a column. */
  boolean has(String name) {
    return columns.stream().anyMatch(column -> column.name().equals(name));
  }

  /** Returns the SQL of a column. */
  String column(String name) {
    return Source.name(Column.number(columns, name));
  }
}
