package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.text.Secrets;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces keys of a config, as {@code --set a.b.c=value} and a pipeline's {@code set:} say.
 *
 * <p>A number in the path is an index of a list; the index after the last element appends.
 */
public final class Overrides {
  /**
   * The options that set one key each. Among overrides, {@code --nodes=2} is the same as {@code
   * resources.nodes=2}, and messages name the option.
   */
  public static final Map<String, String> OPTIONS =
      Map.of(
          "--nodes", "resources.nodes",
          "--gpus", "resources.gpus_per_node",
          "--cpus", "resources.cpus_per_task",
          "--mem", "resources.memory",
          "--time", "resources.time",
          "--partition", "resources.partition",
          "--account", "resources.account",
          "--backend", "backend",
          "--name", "name");

  private static final Pattern ARRAY = Pattern.compile("([0-9][0-9,:-]*)(?:%([1-9]\\d{0,6}))?");

  private Overrides() {}

  /**
   * Returns the keys that an option sets, each with its value: {@code --gpus h100:4} sets the type
   * and the number of GPUs.
   *
   * @param option one of {@link #OPTIONS}; or of a script's {@code #SBATCH} lines {@code --array},
   *     {@code --requeue} or a key
   */
  public static Map<String, String> keys(String option, String value) {
    if (option.equals("--array")) {
      return arrayKeys(value);
    }
    if (option.equals("--requeue")) {
      return requeueKeys(value);
    }
    String key = OPTIONS.getOrDefault(option, option);
    boolean typed = option.equals("--gpus") || key.matches("resources\\.gpus(_per_task)?");
    int colon = typed ? value.indexOf(':') : -1;
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put(key, value.substring(colon + 1));
    if (colon >= 0) {
      keys.put("resources.gpu_type", value.substring(0, colon));
    }
    return keys;
  }

  /** Returns the keys of a config that {@code --requeue} sets: sbatch repeats no failed program. */
  private static Map<String, String> requeueKeys(String value) {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("requeues", value);
    keys.put("retry_on", "[node]");
    return keys;
  }

  /** Returns the keys of a config that an array's value sets. */
  private static Map<String, String> arrayKeys(String array) {
    Map<String, String> keys = new LinkedHashMap<>();
    Matcher matcher = ARRAY.matcher(array);
    if (matcher.matches()) {
      // Indices from 0 without gaps are the numbers of tasks.
      if (matcher.group(1).matches("0-\\d{1,7}")) {
        keys.put("array.shards", "" + (Integer.parseInt(matcher.group(1).substring(2)) + 1));
      } else {
        keys.put("array.indices", matcher.group(1));
      }
      if (matcher.group(2) != null) {
        keys.put("array.max_parallel", matcher.group(2));
      }
    }
    return keys;
  }

  /**
   * One key and its new value.
   *
   * @param at where the value is written, for messages
   * @param path the steps to the key
   */
  public record Replacement(Position at, List<String> path, YamlNode value) {}

  /** Returns an override for a message, which must not contain a secret. */
  private static String shown(String override) {
    int equals = override.indexOf('=');
    String key = override.substring(0, Math.max(0, equals));
    String name = key.substring(key.lastIndexOf('.') + 1);
    return Secrets.of(name, override.substring(equals + 1), true).isPresent()
        ? key + "=…"
        : YamlNode.shortened(override);
  }

  /**
   * Returns the tree with all values of {@code --set} applied, in order. A value has the type that
   * YAML would give it in the file. Adds a problem for each override that cannot be applied.
   */
  public static YamlNode apply(YamlNode root, List<String> overrides, List<Problem> problems) {
    List<Replacement> replacements = new ArrayList<>();
    for (String override : overrides) {
      Position at = new Position("--set " + shown(override), 0, 0);
      int equals = override.indexOf('=');
      if (equals < 1) {
        problems.add(new Problem(at, "", "expected key=value, such as resources.nodes=2"));
        continue;
      }
      String option = override.substring(0, equals);
      if (OPTIONS.containsKey(option)) {
        option(option, override.substring(equals + 1), replacements);
        continue;
      }
      YamlNode value = YamlReader.scalar(at, override.substring(equals + 1));
      replacements.add(new Replacement(at, path(override.substring(0, equals)), value));
    }
    return replace(root, replacements, problems);
  }

  private static void option(String option, String value, List<Replacement> replacements) {
    Position at = new Position(option + " " + YamlNode.shortened(value), 0, 0);
    for (Map.Entry<String, String> key : keys(option, value).entrySet()) {
      YamlNode node = YamlReader.scalar(at, key.getValue());
      replacements.add(new Replacement(at, path(key.getKey()), node));
    }
  }

  /** Returns the steps of a key such as {@code resources.nodes}. */
  public static List<String> path(String key) {
    return List.of(key.split("\\.", -1));
  }

  /** Returns the tree with the values replaced, in order. */
  public static YamlNode replace(
      YamlNode root, List<Replacement> replacements, List<Problem> problems) {
    YamlNode result = root;
    for (Replacement one : replacements) {
      if (one.path().size() > YamlReader.MAX_DEPTH) {
        String message = "nested deeper than " + YamlReader.MAX_DEPTH + " levels";
        problems.add(new Problem(one.at(), "", message));
        continue;
      }
      result = with(result, one.path(), one.value(), one.at(), problems);
    }
    return result;
  }

  private static YamlNode with(
      YamlNode node, List<String> path, YamlNode value, Position at, List<Problem> problems) {
    if (path.isEmpty()) {
      return value;
    }
    String step = path.get(0);
    List<String> rest = path.subList(1, path.size());
    if (node instanceof Sequence sequence) {
      return element(sequence, step, rest, value, at, problems);
    }
    if (!(node instanceof Mapping mapping)) {
      problems.add(
          new Problem(at, step, "there is " + node.words() + " where a mapping is needed"));
      return node;
    }
    Map<String, Entry> entries = new LinkedHashMap<>(mapping.entries());
    Entry old = entries.get(step);
    YamlNode child = old == null ? missing(rest, at) : old.value();
    entries.put(step, new Entry(at, with(child, rest, value, at, problems)));
    return new Mapping(mapping.at(), entries);
  }

  private static YamlNode element(
      Sequence sequence,
      String step,
      List<String> rest,
      YamlNode value,
      Position at,
      List<Problem> problems) {
    int size = sequence.elements().size();
    Optional<Integer> index = index(step).filter(i -> i <= size);
    if (index.isEmpty()) {
      problems.add(new Problem(at, step, "expected a place in the list, 0 to " + size));
      return sequence;
    }
    List<YamlNode> elements = new ArrayList<>(sequence.elements());
    int i = index.get();
    if (i == size) {
      elements.add(with(new Mapping(at, Map.of()), rest, value, at, problems));
    } else {
      elements.set(i, with(elements.get(i), rest, value, at, problems));
    }
    return new Sequence(sequence.at(), elements);
  }

  /** Creates a missing parent: a list if the next step is index 0, else a mapping. */
  private static YamlNode missing(List<String> path, Position at) {
    return !path.isEmpty() && path.get(0).equals("0")
        ? new Sequence(at, List.of())
        : new Mapping(at, Map.of());
  }

  private static Optional<Integer> index(String step) {
    return step.matches("\\d{1,6}") ? Optional.of(Integer.parseInt(step)) : Optional.empty();
  }
}
