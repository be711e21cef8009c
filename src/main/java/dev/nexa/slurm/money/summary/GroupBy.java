package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A grouping of runs: by fields such as {@code model} or {@code tag}, by {@code tag:PREFIX} (the
 * text after {@code PREFIX:} in a run's first such tag), or by several of these.
 *
 * @param words the words as they were typed
 * @param parts the property that each word names
 */
public record GroupBy(List<String> words, List<RunProperty> parts) {
  /** Stands for a missing value. */
  public static final String NONE = "-";

  /**
   * Reads a grouping such as {@code stage,tag:team}.
   *
   * @throws NexaException if runs cannot be grouped by one of the words
   */
  public static GroupBy parse(String text) {
    List<String> words = List.of(text.split(",", -1));
    return new GroupBy(words, words.stream().map(GroupBy::part).toList());
  }

  private static RunProperty part(String word) {
    if (word.isEmpty()) {
      throw ErrorCode.OPTION_INVALID.error(
          "--by: a name is empty; expected names with single commas between them",
          "--by project,user");
    }
    Optional<RunProperty> property = RunProperty.of(word);
    if (property.isEmpty() || property.get().field().type() != RunField.Type.TEXT) {
      List<String> names = RunField.words(true);
      String why =
          property.isEmpty()
              ? "unknown name '" + word + "'" + RunField.meant(word, names)
              : "'%s' is %s and makes no groups; --sort sorts by it"
                  .formatted(word, property.get().field().kind());
      throw ErrorCode.OPTION_INVALID.error(
          "--by: " + why,
          "--by with one of %s, %s; separate several by commas"
              .formatted(String.join(", ", names), RunProperty.TAGS));
    }
    return property.get();
  }

  /**
   * Returns whether a run can be in several groups, so that the groups add up to more than the
   * total.
   */
  public boolean overlaps() {
    return words.contains(RunField.TAG.word());
  }

  /** Returns the groups of a run. Each key has a value for each of {@link #words}. */
  List<List<String>> keys(LedgerLine run) {
    List<String> first = values(parts.get(0), run);
    if (parts.size() == 1 && first.size() == 1) {
      return List.of(first);
    }
    List<List<String>> keys = List.of(List.of());
    for (RunProperty part : parts) {
      List<List<String>> longer = new ArrayList<>();
      for (String value : values(part, run)) {
        for (List<String> key : keys) {
          List<String> more = new ArrayList<>(key);
          more.add(value);
          longer.add(more);
        }
      }
      keys = longer;
    }
    return keys;
  }

  private static List<String> values(RunProperty part, LedgerLine run) {
    List<String> values = part.texts(run);
    return values.isEmpty() ? List.of(NONE) : values;
  }

  /**
   * Returns a column for each word that groups runs.
   *
   * @param key a group's values; empty for the sum of all groups, which is called {@code all}
   */
  public <R> Columns<R> columns(Function<R, List<String>> key) {
    Columns<R> columns = new Columns<>();
    for (int i = 0; i < words().size(); i++) {
      int at = i;
      String all = i == 0 ? "all" : "";
      columns =
          columns.text(
              words().get(i), group -> key.apply(group).isEmpty() ? all : key.apply(group).get(at));
    }
    return columns;
  }

  /** Returns an object that has a group's values under {@code key}. */
  public <R> JsonObject json(R group, Function<R, List<String>> key) {
    return new JsonObject().with("key", columns(key).addTo(new JsonObject(), group));
  }
}
