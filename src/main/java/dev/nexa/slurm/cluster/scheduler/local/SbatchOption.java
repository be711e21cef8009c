package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.foreign.SbatchWords;
import dev.nexa.slurm.job.config.foreign.SbatchWords.Word;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The options of sbatch(1) that the local scheduler knows: those that our templates write. */
enum SbatchOption {
  ACCOUNT,
  ARRAY,
  CONSTRAINT,
  CPUS_PER_TASK,
  EXCLUDE,
  EXCLUSIVE,
  LICENSES,
  MAIL_TYPE,
  MAIL_USER,
  MEM,
  NODELIST,
  NODES,
  NO_REQUEUE,
  NTASKS_PER_NODE,
  OPEN_MODE,
  PARTITION,
  QOS,
  REQUEUE,
  RESERVATION,
  SIGNAL,
  TIME,
  // The submission has its own values of these options. They override the values of a script.
  CHDIR,
  COMMENT,
  EXPORT,
  JOB_NAME,
  OUTPUT;

  /** The options without a value. */
  private static final Set<SbatchOption> FLAGS = EnumSet.of(EXCLUSIVE, NO_REQUEUE, REQUEUE);

  String longName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Returns the options in the {@code #SBATCH} lines of a script; of a repeated option the last
   * value. Other words are left out.
   */
  static Map<SbatchOption, String> of(String script) {
    Map<SbatchOption, String> options = new EnumMap<>(SbatchOption.class);
    for (Word word : SbatchWords.of(script)) {
      String value = word.text().substring(word.text().indexOf('=') + 1);
      option(word).ifPresent(option -> options.put(option, value));
      if (word.text().equals("--requeue")) {
        options.remove(NO_REQUEUE);
      }
    }
    return options;
  }

  /**
   * Checks that no word of the script would be left out.
   *
   * @throws IllegalArgumentException with the line of the first one
   */
  static void requireKnown(String script) {
    for (Word word : SbatchWords.of(script)) {
      if (option(word).isEmpty()) {
        String name = word.text().split("=", 2)[0].replaceFirst("^-+", "");
        List<String> names = Arrays.stream(values()).map(SbatchOption::longName).toList();
        throw new IllegalArgumentException(
            "line %d: expected an option such as --time=5, got '%s'%s"
                .formatted(word.line(), word.text(), Nearest.hint(name, names)));
      }
    }
  }

  private static Optional<SbatchOption> option(Word word) {
    String name = word.text().split("=", 2)[0];
    boolean valued = name.length() < word.text().length();
    return Arrays.stream(values())
        .filter(option -> name.equals("--" + option.longName()))
        .filter(option -> valued != FLAGS.contains(option))
        .findFirst();
  }
}
