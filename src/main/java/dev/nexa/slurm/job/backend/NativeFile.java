package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.NativeOptions;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.YamlText;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a runner's own config file. Storage tiers become paths, because no shell reads the file.
 * Values that only the job knows, such as its run id, go on the command line.
 */
final class NativeFile {
  private NativeFile() {}

  /**
   * Returns our keys with the user's options over them, at any depth. With an options file, returns
   * that file with the config's own keys and options over it.
   *
   * @param from for some shared keys, our keys that are made from them, both separated by blanks.
   *     The word {@code plan} is for keys that the plan decides. A key that is missing here is our
   *     default
   */
  static RunnerFile yaml(
      String name, JsonObject ours, JsonObject options, Map<String, String> from, Plan plan) {
    if (plan.payload().optionsFile().isEmpty()) {
      return yaml(name, ours, options, plan);
    }
    JsonObject over = merged(said(ours, from, plan.training().written()), options);
    return RunnerFile.text(name, over(plan.payload().optionsFile().get(), over, plan));
  }

  /** Returns our keys with the user's options over them, at any depth. */
  static RunnerFile yaml(String name, JsonObject ours, JsonObject options, Plan plan) {
    return RunnerFile.text(name, YamlText.of(allWrittenOut(merged(ours, options), plan)));
  }

  /** Returns whether the runner's own options or the options file set a key of the runner. */
  static boolean sets(Plan plan, String key) {
    return plan.options().members().get(key) != null
        || plan.payload().optionsFile().map(file -> file.value(key)).isPresent();
  }

  /**
   * Keeps a file that the options file names, and passes its path to the runner by a flag. The
   * runner would resolve a path in the options file against the job's folder.
   */
  static void beside(
      NativeOptions file,
      String key,
      String flag,
      List<RunnerFile> files,
      List<String> command,
      List<String> notes) {
    if (!(file.value(key) instanceof String path) || path.isEmpty() || path.startsWith("/")) {
      return;
    }
    byte[] content = file.beside().get(path);
    if (content == null) {
      notes.add(
          "%s: %s: there is no %s beside it; the job looks for it where it works"
              .formatted(file.name(), key, path));
      return;
    }
    String name = path.substring(path.lastIndexOf('/') + 1);
    files.add(new RunnerFile(name, content));
    command.addAll(List.of(flag, "${run_dir}/runner/" + name));
  }

  /** Returns our keys that the config sets or the plan decides. */
  private static JsonObject said(JsonObject ours, Map<String, String> from, Training written) {
    Set<String> said = new HashSet<>();
    for (Map.Entry<String, String> made : from.entrySet()) {
      if (made.getKey().equals("plan")
          || Stream.of(made.getKey().split(" ", -1)).anyMatch(written::has)) {
        said.addAll(List.of(made.getValue().split(" ", -1)));
      }
    }
    return only(ours, said::contains);
  }

  /** Returns the members with a wanted name. */
  static JsonObject only(JsonObject object, Predicate<String> wanted) {
    JsonObject some = new JsonObject();
    object.members().keySet().stream()
        .filter(wanted)
        .forEach(key -> some.with(key, object.members().get(key)));
    return some;
  }

  /**
   * Returns the file's text unchanged, except that the keys whose values change move to its end. A
   * file without one key per line, such as JSON, is written anew.
   */
  private static String over(NativeOptions file, JsonObject over, Plan plan) {
    JsonObject both = merged(file.values(), over);
    JsonObject again = new JsonObject();
    for (String key : over.members().keySet()) {
      if (!String.valueOf(both.members().get(key)).equals(String.valueOf(file.value(key)))) {
        again.with(key, both.members().get(key));
      }
    }
    if (again.isEmpty()) {
      return plan.atTiers(file.text());
    }
    TreeMap<Integer, String> lines = new TreeMap<>();
    for (String key : file.values().members().keySet()) {
      Position at = file.positions().get(key);
      if (at == null || at.column() != 1 || lines.put(at.line(), key) != null) {
        return YamlText.of(allWrittenOut(both, plan));
      }
    }
    StringBuilder text = new StringBuilder();
    String key = "";
    int line = 0;
    for (String content : file.text().stripTrailing().split("\n", -1)) {
      line++;
      key = lines.getOrDefault(line, key);
      if (!again.members().containsKey(key)) {
        text.append(content).append('\n');
      }
    }
    return plan.atTiers(text.toString()) + YamlText.of(allWrittenOut(again, plan));
  }

  private static JsonObject merged(JsonObject ours, JsonObject theirs) {
    JsonObject merged = new JsonObject().with(ours);
    for (Map.Entry<String, @Nullable Object> option : theirs.members().entrySet()) {
      Object own = ours.members().get(option.getKey());
      merged.with(
          option.getKey(),
          own instanceof JsonObject above && option.getValue() instanceof JsonObject below
              ? merged(above, below)
              : option.getValue());
    }
    return merged;
  }

  private static JsonObject allWrittenOut(JsonObject object, Plan plan) {
    JsonObject written = new JsonObject();
    object.members().forEach((key, value) -> written.with(key, writtenOut(value, plan)));
    return written;
  }

  private static @Nullable Object writtenOut(@Nullable Object value, Plan plan) {
    if (value instanceof String text) {
      return plan.atTiers(text);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(element -> writtenOut(element, plan)).toList();
    }
    return value instanceof JsonObject object ? allWrittenOut(object, plan) : value;
  }
}
