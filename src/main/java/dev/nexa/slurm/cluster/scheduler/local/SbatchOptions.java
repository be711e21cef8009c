package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.foreign.SbatchWords;
import dev.nexa.slurm.job.config.foreign.SbatchWords.Word;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the {@code #SBATCH} lines of a script. */
final class SbatchOptions {
  /**
   * The options of sbatch(1) that our templates write, without their hyphens. The submission has
   * its own values of the last five. They override the values of a script.
   */
  private static final List<String> KNOWN =
      List.of(
          ("account array constraint cpus-per-task exclude exclusive licenses mail-type mail-user"
                  + " mem nodelist nodes no-requeue ntasks-per-node open-mode partition qos requeue"
                  + " reservation signal time chdir comment export job-name output")
              .split(" ", -1));

  /** The options without a value. */
  private static final Set<String> FLAGS = Set.of("exclusive", "no-requeue", "requeue");

  private SbatchOptions() {}

  /** Returns the values by the options' names; of a repeated option the last value. */
  static Map<String, String> of(String script) {
    Map<String, String> options = new HashMap<>();
    for (Word word : SbatchWords.of(script)) {
      options.put(name(word), word.text().substring(word.text().indexOf('=') + 1));
      if (name(word).equals("requeue")) {
        options.remove("no-requeue");
      }
    }
    return options;
  }

  private static String name(Word word) {
    return word.text().split("=", 2)[0].replaceFirst("^-+", "");
  }

  /**
   * Checks that the local scheduler knows each word of the script.
   *
   * @throws IllegalArgumentException with the line of the first one that it does not know
   */
  static void requireKnown(String script) {
    for (Word word : SbatchWords.of(script)) {
      String name = name(word);
      boolean known = KNOWN.contains(name) && word.text().startsWith("--" + name);
      if (!known || FLAGS.contains(name) == word.text().contains("=")) {
        throw new IllegalArgumentException(
            "line %d: expected an option such as --time=5, got '%s'%s"
                .formatted(word.line(), word.text(), Nearest.hint(name, KNOWN)));
      }
    }
  }
}
