package dev.nexa.slurm.costs;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * By what runs are put together: {@code model}, {@code tag}, {@code tag:PREFIX} (what stands behind
 * {@code PREFIX:} in a run's first such tag), or several of them.
 */
public final class GroupBy {
  /** What stands for a run that has none. */
  public static final String NONE = "-";

  private static final String TAG_PREFIX = "tag:";

  private final List<String> words;
  private final List<Part> parts;

  private GroupBy(List<String> words, List<Part> parts) {
    this.words = words;
    this.parts = parts;
  }

  /** Reads {@code stage,tag:team}. */
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
    Optional<Field> field = Field.of(word);
    if (field.isEmpty() || field.get().type() != Field.Type.TEXT) {
      List<String> names = Field.words(true);
      throw new NexaException(
          ExitCode.USAGE,
          "--by: runs can't be grouped by '" + word + "'" + Nearest.hint(word, names),
          "one of " + String.join(", ", names) + ", tag:PREFIX; or several, with commas");
    }
    Field known = field.get();
    return known == Field.TAG
        ? run -> run.tags().isEmpty() ? List.of(NONE) : run.tags()
        : run -> List.of(orNone(known.text(run)));
  }

  private static String orNone(@Nullable String value) {
    return value == null ? NONE : value;
  }

  /** As they were written. */
  public List<String> words() {
    return words;
  }

  /** Whether a run can be in several groups, so that they add up to more than all. */
  public boolean overlaps() {
    return words.contains(Field.TAG.word());
  }

  /** The groups a run is in: each has a word for each of {@link #words}. */
  List<List<String>> keys(RunLine run) {
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

  /** What one of the words says of a run. */
  private interface Part {
    List<String> values(RunLine run);
  }
}
