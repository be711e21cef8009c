package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A grouping of runs: by fields such as {@code model} or {@code tag}, by {@code tag:PREFIX} (the
 * text after {@code PREFIX:} in a run's first such tag), or by several of these.
 */
public final class GroupBy {
  /** Stands for a missing value. */
  public static final String NONE = "-";

  private static final String TAG_PREFIX = "tag:";

  private final List<String> words;
  private final List<Part> parts;

  private GroupBy(List<String> words, List<Part> parts) {
    this.words = words;
    this.parts = parts;
  }

  /**
   * Reads a grouping such as {@code stage,tag:team}.
   *
   * @throws NexaException if runs cannot be grouped by one of the words
   */
  public static GroupBy parse(String text) {
    List<String> words = List.of(text.split(",", -1));
    List<Part> parts = new ArrayList<>();
    for (String word : words) {
      parts.add(part(word));
    }
    return new GroupBy(words, parts);
  }

  private static Part part(String word) {
    if (word.startsWith(TAG_PREFIX) && word.length() > TAG_PREFIX.length()) {
      String prefix = word.substring(TAG_PREFIX.length());
      return run -> List.of(orNone(run.tagged(prefix)));
    }
    Optional<RunField> field = RunField.of(word);
    if (field.isEmpty() || field.get().type() != RunField.Type.TEXT) {
      List<String> names = RunField.words(true);
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--by: runs can't be grouped by '" + word + "'" + Nearest.hint(word, names),
          Advice.step(
              "one of " + String.join(", ", names) + ", tag:PREFIX; or several, with commas"));
    }
    RunField known = field.get();
    return known == RunField.TAG
        ? run -> run.tags().isEmpty() ? List.of(NONE) : run.tags()
        : run -> List.of(orNone(known.text(run)));
  }

  private static String orNone(@Nullable String value) {
    return value == null ? NONE : value;
  }

  /** Returns the words as they were typed. */
  public List<String> words() {
    return words;
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
    List<String> first = parts.get(0).values(run);
    if (parts.size() == 1 && first.size() == 1) {
      return List.of(first);
    }
    List<List<String>> keys = List.of(List.of());
    for (Part part : parts) {
      List<List<String>> longer = new ArrayList<>();
      for (String value : part.values(run)) {
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

  /** Returns a run's values for one word. */
  private interface Part {
    List<String> values(LedgerLine run);
  }
}
