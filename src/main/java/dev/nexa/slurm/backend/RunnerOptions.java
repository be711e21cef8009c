package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.config.Written;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.files.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a runner reads, from the list that dev/runner-options made of its release. Most runners drop
 * a key that they don't know in silence; here it is an error.
 */
final class RunnerOptions {
  private static final String FOLDER = "options/";

  /** Each point of a sweep asks again. */
  private static final Map<String, RunnerOptions> READ = new HashMap<>();

  private final String release;
  private final Map<String, String> types = new TreeMap<>();

  private RunnerOptions(String release) {
    this.release = release;
  }

  /** The list of that name, such as {@code trl-sft}. */
  static synchronized RunnerOptions of(String list) {
    RunnerOptions read = READ.get(list);
    if (read == null) {
      read = read(list);
      READ.put(list, read);
    }
    return read;
  }

  private static RunnerOptions read(String list) {
    String[] lines = text(list).split("\n", -1);
    RunnerOptions options = new RunnerOptions(lines[0].substring(2).split(":", 2)[0]);
    for (String line : lines) {
      if (!line.isEmpty() && !line.startsWith("#")) {
        String[] option = line.split("\t", 2);
        options.types.put(option[0], option[1]);
      }
    }
    return options;
  }

  private static String text(String list) {
    String name = FOLDER + list + ".txt";
    try (InputStream in = RunnerOptions.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalArgumentException("there is no " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + name, failed);
    }
  }

  /** The release they are of, such as {@code trl 1.13.0}. */
  String release() {
    return release;
  }

  /** Tells of each option, at any depth, that the runner would not read. */
  void check(JsonObject options, String path, Written written, List<Problem> problems) {
    check(options, "", path, written, problems);
  }

  private void check(
      JsonObject options, String above, String path, Written written, List<Problem> problems) {
    for (Map.Entry<String, @Nullable Object> option : options.members().entrySet()) {
      String name = above.isEmpty() ? option.getKey() : above + "." + option.getKey();
      String at = path + "." + option.getKey();
      if (!knows(name)) {
        problems.add(
            written.problem(
                at,
                release + " has no option '" + name + "'" + Nearest.hint(name, types.keySet())));
      } else if (option.getValue() instanceof JsonObject below && !isOpen(name)) {
        check(below, name, at, written, problems);
      } else if (option.getValue() instanceof List<?> list && !isOpen(name)) {
        for (Object element : list) {
          if (element instanceof JsonObject below) {
            check(below, name, at, written, problems);
          }
        }
      }
    }
  }

  /** Whether it reads the option, a key of a file or a flag of the command line. */
  boolean knows(String name) {
    return types.containsKey(name) || types.containsKey(flag(name));
  }

  /** Whether it takes any key below this one. */
  private boolean isOpen(String name) {
    return types.containsKey(name + ".*") || types.containsKey(flag(name) + ".*");
  }

  /** As the command line spells it. */
  String flag(String name) {
    String underscores = "--" + name.replace('-', '_');
    return types.containsKey(underscores) ? underscores : "--" + name.replace('_', '-');
  }
}
