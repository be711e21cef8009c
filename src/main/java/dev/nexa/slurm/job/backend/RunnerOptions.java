package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.PackedFile;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The options that a runner knows, from the list that dev/runner-options made of its release.
 *
 * <p>Most runners silently ignore an unknown key. Here it is an error.
 */
final class RunnerOptions {
  private static final String FOLDER = "options/";

  private static final Set<String> NUMBERS = Set.of("int", "float", "float|str");
  private static final Pattern NUMBER =
      Pattern.compile(
          "[-+]?(\\d[\\d_]*\\.?\\d*|\\.\\d+)(e[-+]?\\d+)?|[-+]?\\.?(inf|nan)",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern BOOLEAN =
      Pattern.compile("true|false|yes|no|on|off", Pattern.CASE_INSENSITIVE);

  /** Cached, because each point of a sweep needs the list. */
  private static final Map<String, RunnerOptions> READ = new HashMap<>();

  private final String release;
  private final Map<String, String> types = new TreeMap<>();

  /** The texts that an option takes, if it takes no others. */
  private final Map<String, List<String>> texts = new HashMap<>();

  private RunnerOptions(String release) {
    this.release = release;
  }

  /** Returns the options of a list such as {@code trl-sft}. */
  static synchronized RunnerOptions of(String list) {
    return READ.computeIfAbsent(list, RunnerOptions::read);
  }

  private static RunnerOptions read(String list) {
    String[] lines = PackedFile.text(RunnerOptions.class, FOLDER + list + ".txt").split("\n", -1);
    RunnerOptions options = new RunnerOptions(lines[0].substring(2).split(":", 2)[0]);
    for (String line : lines) {
      if (!line.isEmpty() && !line.startsWith("#")) {
        String[] option = line.split("\t", 3);
        options.types.put(option[0], option[1]);
        if (option.length > 2) {
          options.texts.put(option[0], List.of(option[2].split(" ", -1)));
        }
      }
    }
    return options;
  }

  /** Returns the release of the list, such as {@code trl 1.13.0}. */
  String release() {
    return release;
  }

  /**
   * Adds a problem for each option, at any depth, that the runner does not know or refuses, or
   * whose text it cannot read as a number or as one of its names.
   */
  void check(JsonObject options, String path, ConfigPositions written, List<Problem> problems) {
    check(options, "", path, written, problems);
  }

  /**
   * Returns a sentence for each option that has a value and that the release calls deprecated or
   * ignores.
   */
  List<String> deprecated(JsonObject options, String where) {
    List<String> notes = new ArrayList<>();
    deprecated(options, "", where, notes);
    return notes;
  }

  private void deprecated(JsonObject options, String above, String where, List<String> notes) {
    for (Map.Entry<String, @Nullable Object> option : options.members().entrySet()) {
      String name = above + option.getKey();
      if (option.getValue() != null && isDeprecated(name)) {
        String what =
            "ignored".equals(types.get(name))
                ? release + " does not read it, though its own examples hold it"
                : "deprecated, but " + release + " still reads it";
        notes.add(where + name + ": " + what);
      } else if (option.getValue() instanceof JsonObject below) {
        deprecated(below, name + ".", where, notes);
      }
    }
  }

  private void check(
      JsonObject options,
      String above,
      String path,
      ConfigPositions written,
      List<Problem> problems) {
    for (Map.Entry<String, @Nullable Object> option : options.members().entrySet()) {
      String name = above.isEmpty() ? option.getKey() : above + "." + option.getKey();
      String at = path + "." + option.getKey();
      if (!knows(name)) {
        String message = release + " has no option '" + name + "'";
        problems.add(written.problem(at, message + Nearest.hint(name, types.keySet())));
      } else if ("refused".equals(types.get(name)) && !isEmpty(option.getValue())) {
        String message = release + " refuses '" + name + "' unless it is empty; leave it out";
        problems.add(written.problem(at, message));
      } else if (option.getValue() instanceof JsonObject below && !isOpen(name)) {
        check(below, name, at, written, problems);
      } else if (option.getValue() instanceof List<?> list && !isOpen(name)) {
        for (Object element : list) {
          if (element instanceof JsonObject below) {
            check(below, name, at, written, problems);
          }
        }
      } else if (option.getValue() instanceof String text && !fits(name, text)) {
        List<String> known = texts.getOrDefault(name, List.of());
        String expected = known.isEmpty() ? "a number" : "one of " + String.join(", ", known);
        String message = "expected %s for %s, got '%s'".formatted(expected, release, text);
        problems.add(written.problem(at, message + Nearest.hint(text, known)));
      }
    }
  }

  /** Returns whether a file's option can have a text. A reference is filled in by the job. */
  private boolean fits(String name, String text) {
    if (text.isEmpty() || text.equals("auto") || text.contains("${")) {
      return true;
    }
    String type = types.getOrDefault(name, "");
    if (NUMBERS.contains(type) && !NUMBER.matcher(text).matches()) {
      return false;
    }
    boolean flag = type.contains("bool") && BOOLEAN.matcher(text).matches();
    List<String> known = texts.getOrDefault(name, List.of());
    return flag || known.isEmpty() || known.stream().anyMatch(text::equalsIgnoreCase);
  }

  private boolean isDeprecated(String name) {
    String type = types.get(name);
    return "deprecated".equals(type) || "ignored".equals(type);
  }

  private static boolean isEmpty(@Nullable Object value) {
    return value == null || Boolean.FALSE.equals(value);
  }

  /** Returns whether the runner knows the option, as a key of a file or a flag. */
  boolean knows(String name) {
    return types.containsKey(name) || types.containsKey(flag(name));
  }

  /**
   * Returns whether any key is accepted below this key. The lists do not cover the keys below a
   * deprecated key.
   */
  private boolean isOpen(String name) {
    return isDeprecated(name)
        || types.containsKey(name + ".*")
        || types.containsKey(flag(name) + ".*");
  }

  /** Returns the option's flag on the command line. */
  String flag(String name) {
    String underscores = "--" + name.replace('-', '_');
    return types.containsKey(underscores) ? underscores : "--" + name.replace('_', '-');
  }
}
