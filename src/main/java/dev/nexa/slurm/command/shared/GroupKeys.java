package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.money.summary.GroupBy;
import java.util.List;
import java.util.function.Function;

/** The columns of a list's groups, such as {@code model} and {@code month}. */
public final class GroupKeys {
  private GroupKeys() {}

  /**
   * Returns a column for each word by which runs are grouped.
   *
   * @param key a group's values; empty for the sum of all groups, which is called {@code all}
   */
  public static <R> Columns<R> columns(GroupBy by, Function<R, List<String>> key) {
    Columns<R> columns = new Columns<>();
    for (int i = 0; i < by.words().size(); i++) {
      int at = i;
      columns =
          columns.text(
              by.words().get(i),
              group -> key.apply(group).isEmpty() ? all(at) : key.apply(group).get(at));
    }
    return columns;
  }

  private static String all(int column) {
    return column == 0 ? "all" : "";
  }

  /** Returns an object that has the group's values under {@code key}. */
  public static <R> JsonObject json(GroupBy by, R group, Function<R, List<String>> key) {
    return new JsonObject().with("key", columns(by, key).addTo(new JsonObject(), group));
  }
}
