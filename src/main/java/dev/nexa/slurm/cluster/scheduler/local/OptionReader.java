package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.error.Nearest;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the options of one job as text, in the way sbatch does with getopt_long. Abbreviated names
 * are refused, because it depends on Slurm's version which of them are unique.
 */
final class OptionReader {
  private final Map<SbatchOption, String> values = new EnumMap<>(SbatchOption.class);

  /**
   * Reads words such as {@code --time=5}, {@code -t 5}, {@code -t5}. If an option is repeated, its
   * last value counts.
   *
   * @throws SbatchRefusal for an unknown option, a missing value, or a word that is no option
   */
  static OptionReader parse(List<String> words) {
    OptionReader options = new OptionReader();
    int next = 0;
    while (next < words.size()) {
      String word = words.get(next);
      Optional<String> following =
          next + 1 < words.size() ? Optional.of(words.get(next + 1)) : Optional.empty();
      next += options.read(word, following) ? 2 : 1;
    }
    return options;
  }

  /** Reads one word; true if its value is the following word. */
  private boolean read(String word, Optional<String> following) {
    if (word.startsWith("--") && word.length() > 2) {
      int equals = word.indexOf('=');
      String name = equals < 0 ? word.substring(2) : word.substring(2, equals);
      SbatchOption option = SbatchOption.byName(name).orElseThrow(() -> unknown(word, name));
      Optional<String> attached =
          equals < 0 ? Optional.empty() : Optional.of(word.substring(equals + 1));
      return set(option, "option '--" + name + "'", attached, following);
    }
    if (word.startsWith("-") && word.length() > 1) {
      char letter = word.charAt(1);
      SbatchOption option =
          SbatchOption.byLetter(letter)
              .orElseThrow(() -> usage("invalid option -- '" + letter + "'"));
      Optional<String> attached =
          word.length() > 2 ? Optional.of(word.substring(2)) : Optional.empty();
      return set(option, "option '-" + letter + "'", attached, following);
    }
    throw SbatchRefusal.error("Invalid directive found in batch script: " + word);
  }

  private boolean set(
      SbatchOption option, String written, Optional<String> attached, Optional<String> following) {
    if (attached.isPresent()) {
      if (option.value() == SbatchOption.Value.NEVER) {
        throw usage(written + " doesn't allow an argument");
      }
      put(option, attached.get());
      return false;
    }
    if (option.value() != SbatchOption.Value.ALWAYS) {
      put(option, "");
      return false;
    }
    put(option, following.orElseThrow(() -> usage(written + " requires an argument")));
    return true;
  }

  /** Sets an option and replaces its earlier value. */
  void put(SbatchOption option, String value) {
    if (option == SbatchOption.REQUEUE) {
      values.remove(SbatchOption.NO_REQUEUE);
    } else if (option == SbatchOption.NO_REQUEUE) {
      values.remove(SbatchOption.REQUEUE);
    }
    values.put(option, value);
  }

  boolean has(SbatchOption option) {
    return values.containsKey(option);
  }

  Optional<String> get(SbatchOption option) {
    return Optional.ofNullable(values.get(option));
  }

  /** Returns the value; empty text if the option is not set. */
  String text(SbatchOption option) {
    return values.getOrDefault(option, "");
  }

  private static SbatchRefusal unknown(String word, String name) {
    String hint = Nearest.hint(name, SbatchOption.names());
    String scope = hint.isEmpty() ? " (the local scheduler knows fewer options than Slurm)" : hint;
    return usage("unrecognized option '" + word + "'" + scope);
  }

  private static SbatchRefusal usage(String what) {
    return new SbatchRefusal("sbatch: " + what);
  }
}
