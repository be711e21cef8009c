package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.run.KeyHomes.Home;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The unknown keys of a run's config. Their messages say where each key belongs. The config with
 * these keys at their homes shows which other problems it has: a key in a wrong place is one
 * mistake, and must not look like a missing key too.
 */
public final class UnknownKeys {
  /** A range of sbatch's --array. */
  private static final Pattern RANGE =
      Pattern.compile("(\\d{1,7})-(\\d{1,7})(?::(\\d{1,7}))?(?:%([1-9]\\d{0,6}))?");

  private final List<Problem> told = new ArrayList<>();
  private YamlNode moved;

  /**
   * Reads the unknown keys among the problems of a config.
   *
   * @param root the config as it was checked
   */
  public UnknownKeys(YamlNode root, List<Problem> problems) {
    this.moved = root;
    problems.stream()
        .filter(problem -> problem.code() == ErrorCode.CONFIG_UNKNOWN_KEY)
        .forEach(problem -> add(problem, root));
  }

  /** Adds a key such as {@code resources.nodes} that was written as one word. */
  private void dotted(Problem problem, Entry entry) {
    List<String> path = Overrides.path(problem.key());
    String form = String.join(": {", path) + ": …" + "}".repeat(path.size() - 1);
    told.add(problem.with("unknown key; a dot in a key opens no section: write " + form));
    Map<String, Entry> rest = new LinkedHashMap<>(((Mapping) moved).entries());
    rest.remove(problem.key());
    moved = new Mapping(moved.at(), rest);
    if (at(moved, problem.key()) == null) {
      moved = put(moved, path, entry);
    }
  }

  private void add(Problem problem, YamlNode root) {
    if (root instanceof Mapping top
        && top.entries().containsKey(problem.key())
        && problem.key().contains(".")) {
      dotted(problem, top.entries().get(problem.key()));
      return;
    }
    int dot = problem.key().lastIndexOf('.');
    String section = dot < 0 ? "" : problem.key().substring(0, dot);
    String name = problem.key().substring(dot + 1);
    // A group has few keys, and the checker names the nearest of them.
    boolean ofGroup = section.startsWith(Groups.KEY + ".");
    Optional<Home> home = ofGroup ? Optional.empty() : KeyHomes.of(section, name);
    boolean elsewhere = home.isEmpty() || !home.get().key().startsWith("sweep.");
    if (section.equals("sweep") && elsewhere) {
      String message =
          "unknown key; a sweep varies training keys, such as lr, and options of the program:"
              + " for the program's --%1$s write options.%1$s";
      told.add(problem.with(message.formatted(name)));
      return;
    }
    Entry entry = at(moved, problem.key());
    String message = home.map(known -> message(section, known)).orElse(problem.message());
    Optional<String> text = entry == null ? Optional.empty() : entry.value().asText();
    if (entry != null && text.isPresent() && home.isPresent() && home.get().key().equals("run")) {
      message += YamlNode.written("run", text.get());
      YamlNode one = new Scalar(entry.value().at(), text.get(), YamlNode.ScalarType.STRING);
      entry = new Entry(entry.keyAt(), one);
    }
    told.add(problem.with(message));
    if (entry != null
        && home.isPresent()
        && home.get().sameValue()
        && at(moved, home.get().key()) == null) {
      moved = without(moved, Overrides.path(problem.key()));
      moved = put(moved, Overrides.path(home.get().key()), entry);
    }
  }

  /** Returns whether the config has unknown keys. */
  public boolean any() {
    return !told.isEmpty();
  }

  /** Returns the problems of the unknown keys. */
  public List<Problem> problems() {
    return told;
  }

  /** Returns the config with each key at its home. Unknown keys without a home stay. */
  public YamlNode moved() {
    return moved;
  }

  private static String message(String section, Home home) {
    String remark = home.remark().isEmpty() ? "" : "; " + home.remark();
    if (home.key().isEmpty()) {
      return "unknown key" + remark;
    }
    boolean up = !home.key().contains(".") && !section.isEmpty();
    boolean here = home.key().equals(YamlNode.child(section, home.name()));
    return "unknown key (did you mean '"
        + (here ? home.name() : home.key())
        + (up ? "' at the top level?)" : "'?)")
        + remark;
  }

  /**
   * Returns the problem with an explanation in its message. The problem of a section that was
   * written as one value, such as {@code entrypoint: train.py}, gets the form to write. The problem
   * of a resource in another program's notation gets an explanation, too. Any other problem is
   * returned unchanged.
   *
   * @param gpuTypes the types of the cluster's GPUs
   */
  public static Problem explained(Problem problem, YamlNode root, Collection<String> gpuTypes) {
    Entry entry = at(root, problem.key());
    if (entry == null
        || !(entry.value() instanceof Scalar scalar)
        || !scalar.text().matches("[A-Za-z0-9_./@+%:, -]{1,100}")) {
      return problem;
    }
    String text = scalar.text();
    String more =
        switch (problem.key()) {
          case "resources.nodes" -> plainNumber(text);
          case "resources.gpus_per_node" ->
              text.contains(".")
                  ? "; Slurm gives whole GPUs (parts of one: `nexa-slurm explain docs/prices.md`)"
                  : "";
          case "resources.gpu_type" ->
              text.contains(" ") && !gpuTypes.isEmpty()
                  ? Nearest.product(text, gpuTypes)
                      + "; the cluster has "
                      + String.join(", ", gpuTypes)
                  : "";
          case "entrypoint.config" -> text.matches("[^ ]+\\.\\w+") ? ownConfig(text) : "";
          default -> problem.code() == ErrorCode.CONFIG_WRONG_TYPE ? form(problem.key(), text) : "";
        };
    return problem.with(problem.message() + more);
  }

  private static String ownConfig(String file) {
    String kept = "\"${run_dir}/runner/" + Path.of(file).getFileName() + "\"";
    return ("; true gives the script the training keys. For a file of yours write"
            + " files: [%s] and entrypoint: {config: false, args: [--config, %s]}")
        .formatted(file, kept);
  }

  /** Returns what to write for a number such as {@code 1_000} or {@code 1e3}. */
  private static String plainNumber(String text) {
    return text.matches("[0-9][0-9_]{0,8}(e[0-5])?")
        ? ": write " + new BigDecimal(text.replace("_", "")).toPlainString()
        : "";
  }

  private static String form(String key, String text) {
    Matcher range = RANGE.matcher(text);
    if (key.equals("array") && range.matches()) {
      boolean dense = range.group(1).equals("0") && range.group(3) == null;
      return "; write array: {"
          + (dense
              ? "shards: " + (Integer.parseInt(range.group(2)) + 1)
              : "indices: " + text.replaceFirst("%.*", ""))
          + (range.group(4) == null ? "" : ", max_parallel: " + range.group(4))
          + "}; NEXA_TASK is the number of a task, from 0";
    }
    if (!text.matches("[A-Za-z0-9_./@+-]+")) {
      return "";
    }
    String form =
        switch (key) {
          case "entrypoint" -> text.matches(".*[./].*") ? "script: " + text : "module: " + text;
          case "array" -> text.matches("[1-9]\\d{0,6}") ? "shards: " + text : "shards: 10";
          case "mail" -> "user: " + text;
          case "code" -> text.equals("true") ? "" : "path: " + text;
          case "software" -> "venv: " + text;
          default -> null;
        };
    return form == null ? "" : "; write " + key + ": {" + form + "}";
  }

  /** Returns the entry at the path; null if there is none. */
  public static @Nullable Entry at(YamlNode root, String key) {
    YamlNode node = root;
    Entry entry = null;
    for (String step : Overrides.path(key)) {
      entry = node instanceof Mapping mapping ? mapping.entries().get(step) : null;
      if (entry == null) {
        return null;
      }
      node = entry.value();
    }
    return entry;
  }

  private static YamlNode without(YamlNode root, List<String> path) {
    Mapping mapping = (Mapping) root;
    Map<String, Entry> entries = new LinkedHashMap<>(mapping.entries());
    Entry old = entries.remove(path.get(0));
    if (path.size() > 1 && old != null) {
      YamlNode below = without(old.value(), path.subList(1, path.size()));
      entries.put(path.get(0), new Entry(old.keyAt(), below));
    }
    return new Mapping(mapping.at(), entries);
  }

  /** Returns the tree with the entry at the path; unchanged if a step is no mapping. */
  private static YamlNode put(YamlNode root, List<String> path, Entry entry) {
    if (!(root instanceof Mapping mapping)) {
      return root;
    }
    Map<String, Entry> entries = new LinkedHashMap<>(mapping.entries());
    if (path.size() == 1) {
      entries.put(path.get(0), entry);
    } else {
      Entry old = entries.get(path.get(0));
      YamlNode section = old == null ? new Mapping(entry.value().at(), Map.of()) : old.value();
      Position at = old == null ? entry.keyAt() : old.keyAt();
      entries.put(path.get(0), new Entry(at, put(section, path.subList(1, path.size()), entry)));
    }
    return new Mapping(mapping.at(), entries);
  }
}
