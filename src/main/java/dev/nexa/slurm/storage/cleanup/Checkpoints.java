package dev.nexa.slurm.storage.cleanup;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Chooses among the checkpoints of one training by their names: {@code checkpoint-500}, {@code
 * step_500}, {@code epoch_2}, {@code global_step500}, {@code iter_0000500}, {@code
 * epoch=1-step=500.ckpt}. Everything else in the folder is no checkpoint that cleanup knows. Pure.
 */
public final class Checkpoints {
  private static final Pattern NAME =
      Pattern.compile(
          "(checkpoint|ckpt|global_step|step|epoch|iter|iteration)[-_=]?(\\d{1,18})"
              + "(?:-step=(\\d{1,18}))?(?:\\.(?:pt|pth|ckpt|bin|safetensors))?");

  private Checkpoints() {}

  /**
   * The best checkpoints, as far as known.
   *
   * @param names the best checkpoints, and the checkpoints that a link in the folder leads to
   * @param known whether the training said which one is the best, or that it does not compare them
   */
  record Best(Set<String> names, boolean known) {}

  /** Returns whether an entry has the name of a checkpoint. */
  public static boolean isCheckpoint(String name) {
    return NAME.matcher(name).matches();
  }

  /**
   * Returns the newest checkpoint by number, of each way to count (steps, epochs).
   *
   * @param names the entries of the folder
   */
  static List<String> last(List<String> names) {
    Map<String, String> last = new HashMap<>();
    for (String name : names) {
      Matcher parts = NAME.matcher(name);
      if (parts.matches()) {
        last.merge(parts.group(1), name, (a, b) -> number(a) >= number(b) ? a : b);
      }
    }
    return List.copyOf(last.values());
  }

  private static long number(String name) {
    Matcher parts = NAME.matcher(name);
    return parts.matches()
        ? Long.parseLong(parts.group(3) == null ? parts.group(2) : parts.group(3))
        : -1;
  }

  /**
   * A checkpoint and what happens with it.
   *
   * @param kept why it is kept; empty if it may be removed
   */
  record Choice(String name, Optional<String> kept) {}

  /** Returns a choice for each checkpoint, ordered by number. */
  static List<Choice> choose(List<String> names, Best best) {
    List<String> sorted = new ArrayList<>(names);
    sorted.removeIf(name -> !isCheckpoint(name));
    sorted.sort(
        Comparator.comparingLong(Checkpoints::number).thenComparing(Comparator.naturalOrder()));
    List<String> last = last(sorted);
    List<Choice> choices = new ArrayList<>();
    for (String name : sorted) {
      Optional<String> kept = Optional.empty();
      if (last.contains(name)) {
        kept = Optional.of("it is the last checkpoint");
      } else if (best.names().contains(name)) {
        kept = Optional.of("it is the best checkpoint, or a link leads to it");
      } else if (!best.known()) {
        kept = Optional.of("nothing says which checkpoint is the best");
      }
      choices.add(new Choice(name, kept));
    }
    return choices;
  }
}
