package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.error.Nearest;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The options of one job, as text: getopt_long's reading of words, as sbatch does it. Abbreviated
 * names are not accepted: which ones are unique depends on Slurm's version.
 */
final class Options {
  private final Map<Option, String> values = new EnumMap<>(Option.class);

  /**
   * Reads words such as {@code --time=5}, {@code -t 5}, {@code -t5}; the last one of a name wins.
   *
   * @throws Refusal at an unknown option, a missing value or a word that is no option
   */
  static Options parse(List<String> words) {
    Options options = new Options();
    int next = 0;
    while (next < words.size()) {
      String word = words.get(next);
      Optional<String> following =
          next + 1 < words.size() ? Optional.of(words.get(next + 1)) : Optional.empty();
      next += options.read(word, following) ? 2 : 1;
    }
    return options;
  }

  /** Reads one word; true if its value was the following one. */
  private boolean read(String word, Optional<String> following) {
    if (word.startsWith("--") && word.length() > 2) {
      int equals = word.indexOf('=');
      String name = equals < 0 ? word.substring(2) : word.substring(2, equals);
      Option option = Option.byName(name).orElseThrow(() -> unknown(word, name));
      Optional<String> attached =
          equals < 0 ? Optional.empty() : Optional.of(word.substring(equals + 1));
      return set(option, "option '--" + name + "'", attached, following);
    }
    if (word.startsWith("-") && word.length() > 1) {
      char letter = word.charAt(1);
      Option option =
          Option.byLetter(letter).orElseThrow(() -> usage("invalid option -- '" + letter + "'"));
      Optional<String> attached =
          word.length() > 2 ? Optional.of(word.substring(2)) : Optional.empty();
      return set(option, "option '-" + letter + "'", attached, following);
    }
    throw Refusal.error("Invalid directive found in batch script: " + word);
  }

  private boolean set(
      Option option, String written, Optional<String> attached, Optional<String> following) {
    if (attached.isPresent()) {
      if (option.value() == Option.Value.NEVER) {
        throw usage(written + " doesn't allow an argument");
      }
      put(option, attached.get());
      return false;
    }
    if (option.value() != Option.Value.ALWAYS) {
      put(option, "");
      return false;
    }
    put(option, following.orElseThrow(() -> usage(written + " requires an argument")));
    return true;
  }

  /** Sets an option, over an earlier one of that name. */
  void put(Option option, String value) {
    if (option == Option.REQUEUE) {
      values.remove(Option.NO_REQUEUE);
    } else if (option == Option.NO_REQUEUE) {
      values.remove(Option.REQUEUE);
    }
    values.put(option, value);
  }

  boolean has(Option option) {
    return values.containsKey(option);
  }

  Optional<String> get(Option option) {
    return Optional.ofNullable(values.get(option));
  }

  /** The value, or empty text. */
  String text(Option option) {
    return values.getOrDefault(option, "");
  }

  private static Refusal unknown(String word, String name) {
    String hint = Nearest.hint(name, Option.names());
    String scope = hint.isEmpty() ? " (the local scheduler knows fewer options than Slurm)" : hint;
    return usage("unrecognized option '" + word + "'" + scope);
  }

  private static Refusal usage(String what) {
    return new Refusal("sbatch: " + what);
  }
}
