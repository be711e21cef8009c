package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Explains why no run matches a filter: it counts the runs, and collects their values in the
 * filter's fields.
 */
public final class NoMatch {
  private static final int MOST_VALUES = 12;
  private static final int NEAREST_VALUES = 3;

  private final RunFilter where;
  private final Map<RunProperty, TreeSet<String>> words = new LinkedHashMap<>();
  private final Set<RunProperty> missing = new HashSet<>();
  private final Map<RunField, BigDecimal[]> numbers = new LinkedHashMap<>();
  private final Map<RunField, Instant[]> times = new LinkedHashMap<>();
  private int runs;

  /** Creates an empty explanation for the filter. */
  public NoMatch(RunFilter where) {
    this.where = where;
  }

  /**
   * Returns the explanation for the finished runs.
   *
   * @param completed whether only completed runs count
   */
  public static NoMatch among(FinishedRuns runs, RunFilter where, boolean completed) {
    NoMatch none = new NoMatch(where);
    runs.forEach(
        run -> {
          if (!completed || run.completed()) {
            none.add(run);
          }
        });
    return none;
  }

  /** Adds a run that the filter was applied to. */
  public void add(LedgerLine run) {
    runs++;
    for (RunProperty property : where.wanted().keySet()) {
      RunField field = property.field();
      switch (field.type()) {
        case TEXT -> {
          List<String> own = property.texts(run);
          words.computeIfAbsent(property, p -> new TreeSet<>()).addAll(own);
          if (own.isEmpty()) {
            missing.add(property);
          }
        }
        case TIME -> widen(times, field, field.time(run), new Instant[2]);
        default -> widen(numbers, field, field.number(run), new BigDecimal[2]);
      }
    }
  }

  private static <T extends Comparable<T>> void widen(
      Map<RunField, T[]> ranges, RunField field, @Nullable T value, T[] none) {
    if (value != null) {
      T[] range = ranges.computeIfAbsent(field, f -> none);
      range[0] = range[0] == null || value.compareTo(range[0]) < 0 ? value : range[0];
      range[1] = range[1] == null || value.compareTo(range[1]) > 0 ? value : range[1];
    }
  }

  /** Returns the number of added runs. */
  public int runs() {
    return runs;
  }

  /**
   * Returns the explanation, a sentence and a line for each field.
   *
   * @param kind the name of such a run, such as {@code finished run}
   */
  public String text(String kind) {
    String there = runs == 1 ? "is 1 " + kind : "are " + runs + " " + kind + "s";
    StringBuilder text = new StringBuilder();
    text.append("No %s matches '%s': there %s.\n".formatted(kind, where.text().strip(), there));
    Map<RunProperty, String> wanted = where.wanted();
    wanted.forEach(
        (property, value) ->
            text.append("  " + property.word() + ": " + values(property, value) + "\n"));
    return text.toString();
  }

  private String values(RunProperty property, String wanted) {
    RunField field = property.field();
    if (times.containsKey(field)) {
      Instant[] range = times.get(field);
      return range[0] + " to " + range[1];
    }
    if (numbers.containsKey(field)) {
      BigDecimal[] range = numbers.get(field);
      String unit = field.type() == RunField.Type.DURATION ? " seconds" : "";
      return range[0].toPlainString() + " to " + range[1].toPlainString() + unit;
    }
    TreeSet<String> all = words.getOrDefault(property, new TreeSet<>());
    if (all.isEmpty()) {
      return "no run has one";
    }
    boolean many = all.size() > MOST_VALUES;
    List<String> shown = many ? Nearest.first(wanted, all, NEAREST_VALUES) : List.copyOf(all);
    String values = String.join(", ", shown);
    if (many) {
      values += " and " + (all.size() - shown.size()) + " more";
    } else if (missing.contains(property)) {
      values += "; some runs have none: " + property.word() + "=-";
    }
    // The filter ignores the case of these fields' values.
    boolean anyCase = field == RunField.CURRENCY || !field.known().isEmpty();
    boolean known =
        wanted.isEmpty()
            || wanted.equals(GroupBy.NONE)
            || all.contains(wanted)
            || (anyCase && all.stream().anyMatch(wanted::equalsIgnoreCase));
    return known || field == RunField.MONTH
        ? values
        : "no run has '%s'%s; there %s %s"
            .formatted(
                wanted,
                wanted.contains(",") ? " (--where takes one value; --by shows each)" : "",
                all.size() == 1 ? "is" : "are",
                values);
  }
}
