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
 *
 * @param words as they were written
 */
public record GroupBy(List<String> words) {
  /** What stands for a run that has none. */
  public static final String NONE = "-";

  private static final String TAG_PREFIX = "tag:";

  /** Reads {@code stage,tag:team}. */
  public static GroupBy parse(String text) {
    List<String> words = new ArrayList<>();
    for (String word : text.split(",", -1)) {
      Optional<Field> field = Field.of(word);
      boolean known = field.isPresent() && field.get().type() == Field.Type.TEXT;
      if (!known && !(word.startsWith(TAG_PREFIX) && word.length() > TAG_PREFIX.length())) {
        List<String> names = Field.words(true);
        throw new NexaException(
            ExitCode.USAGE,
            "--by: runs can't be grouped by '" + word + "'" + Nearest.hint(word, names),
            "one of " + String.join(", ", names) + ", tag:PREFIX; or several, with commas");
      }
      words.add(word);
    }
    return new GroupBy(words);
  }

  /** Whether a run can be in several groups, so that they add up to more than all. */
  public boolean overlaps() {
    return words.contains(Field.TAG.word());
  }

  /** The groups a run is in: each has a word for each of {@link #words}. */
  List<List<String>> keys(FinishedRun run) {
    List<List<String>> keys = List.of(List.of());
    for (String word : words) {
      List<List<String>> longer = new ArrayList<>();
      for (String value : values(word, run)) {
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

  private static List<String> values(String word, FinishedRun run) {
    if (word.equals(Field.TAG.word())) {
      return run.tags().isEmpty() ? List.of(NONE) : run.tags();
    }
    String value =
        word.startsWith(TAG_PREFIX)
            ? run.tagged(word.substring(TAG_PREFIX.length()))
            : Field.of(word).orElseThrow().text(run);
    return List.of(orNone(value));
  }

  private static String orNone(@Nullable String value) {
    return value == null ? NONE : value;
  }
}
