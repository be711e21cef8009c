package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.money.summary.CostSummary.Group;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The order of a summary's groups, and how many of them are shown. Money of different currencies is
 * not compared: each currency has its own groups.
 *
 * @param column the column to sort by: an amount, largest first, or a word of the grouping; empty
 *     for the usual order
 * @param most the most groups of each currency
 */
public record GroupOrder(Optional<String> column, int most) {
  private static final Map<String, Comparator<Group>> COLUMNS = columns();

  /** Columns whose name in CSV differs from their heading in tables. */
  private static final Map<String, String> CSV_NAMES =
      Map.of("runs_failed", "failed", "estimated", "maximum");

  private static Map<String, Comparator<Group>> columns() {
    Map<String, Comparator<Group>> columns = new LinkedHashMap<>();
    columns.put("runs", Comparator.comparingInt(Group::runs));
    columns.put("failed", Comparator.comparingInt(Group::failed));
    columns.put("gpu_hours", Comparator.comparingLong(Group::gpuSeconds));
    columns.put("cpu_hours", Comparator.comparingLong(Group::cpuSeconds));
    columns.put("cost", Comparator.comparing(Group::cost));
    columns.put("wasted", Comparator.comparing(Group::wasted));
    columns.put("credit", Comparator.comparing(Group::credit));
    columns.put("api", Comparator.comparing(Group::api));
    columns.put("total", Comparator.comparing(Group::total));
    columns.put("billed", Comparator.comparing(Group::billed));
    columns.put("maximum", Comparator.comparing(Group::estimated));
    columns.put("difference", Comparator.comparing(Group::difference));
    return columns;
  }

  /** Returns the names of the columns that can sort any summary. */
  public static List<String> names() {
    return List.copyOf(COLUMNS.keySet());
  }

  /**
   * Returns an order.
   *
   * @param typed the column that the user typed; empty for the usual order
   * @param by the grouping
   * @throws NexaException if the groups have no such column
   */
  public static GroupOrder of(Optional<String> typed, int most, GroupBy by) {
    Optional<String> column = typed.map(name -> CSV_NAMES.getOrDefault(name, name));
    if (column.isPresent()
        && !COLUMNS.containsKey(column.get())
        && !by.words().contains(column.get())) {
      List<String> known = new ArrayList<>(by.words());
      known.addAll(COLUMNS.keySet());
      throw ErrorCode.OPTION_INVALID.error(
          "--sort: unknown column '" + column.get() + "'" + Nearest.hint(column.get(), known),
          "--sort with one column of " + String.join(", ", known));
    }
    return new GroupOrder(column, most);
  }

  /** Returns the order of the groups of one currency; {@code usual} decides between equal ones. */
  Comparator<Group> comparator(List<String> words, Comparator<Group> usual) {
    if (column.isEmpty()) {
      return usual;
    }
    int word = words.indexOf(column.get());
    if (word >= 0) {
      return Comparator.<Group, String>comparing(group -> group.key().get(word))
          .thenComparing(usual);
    }
    Comparator<Group> smallestFirst = COLUMNS.get(column.get());
    return smallestFirst == null ? usual : smallestFirst.reversed().thenComparing(usual);
  }
}
