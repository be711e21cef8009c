package dev.nexa.slurm.job.config.pipeline;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Condition;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.ScalarType;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The earlier runs that {@code --from [NAME=]RUN} names. A config refers to their files as a stage
 * of a pipeline refers to earlier stages: {@code ${stages.NAME.output}}.
 *
 * <p>{@code ${checkpoint}} in {@code model_name}, {@code lora_adapters} and {@code options} is
 * short for {@code ${stages.from.checkpoint}}. The new run gets the tag {@code from:RUN} for each
 * earlier run.
 *
 * @param runs the earlier runs by name, in the order that the user typed
 * @param modelSize the size of the model in the checkpoint of the run {@link #UNNAMED}; empty if it
 *     is unknown
 * @param nodes the nodes that the new run must use; empty if it may use any
 */
public record FromRuns(Map<String, String> runs, Optional<String> modelSize, List<String> nodes) {
  /** The name of a run that the user typed without a name. */
  public static final String UNNAMED = "from";

  /** No earlier runs. */
  public static final FromRuns NONE = new FromRuns(Map.of(), Optional.empty(), List.of());

  private static final String PLACE = "${checkpoint}";
  private static final String MODEL = "model_name";
  private static final List<String> KEYS = List.of(MODEL, "lora_adapters", "options");

  /** Returns the earlier runs as what the new run waits for. */
  public Map<String, Condition> after() {
    Map<String, Condition> after = new LinkedHashMap<>();
    runs.keySet().forEach(name -> after.put(name, Condition.AFTEROK));
    return after;
  }

  /** Returns whether the text is a name for {@code --from NAME=RUN}. */
  public static boolean isName(String text) {
    return text.matches(PipelineConfig.FULL_NAME);
  }

  /** Returns why a config cannot use a name that no {@code --from} gives. */
  String problemOf(String name) {
    return runs.isEmpty()
        ? "names a stage of a pipeline; name the run that made it: --from " + name + "=RUN"
        : "no run has the name '%s'%s; add --from %s=RUN"
            .formatted(name, Nearest.hint(name, runs.keySet()), name);
  }

  /**
   * Writes the references and tags into a config's tree.
   *
   * <p>Adds a problem if the config has {@code ${checkpoint}} and no run is for it, or if it refers
   * to none of an earlier run's files.
   */
  public YamlNode apply(YamlNode root, List<Problem> problems) {
    if (!(root instanceof Mapping mapping)) {
      return root;
    }
    Optional<Scalar> place = Optional.empty();
    for (String key : KEYS) {
      Entry entry = mapping.entries().get(key);
      if (place.isEmpty() && entry != null) {
        place = first(entry.value(), text -> text.contains(PLACE));
      }
    }
    if (place.isPresent() && !runs.containsKey(UNNAMED)) {
      String message = PLACE + " is an earlier run's: name that run with --from RUN";
      problems.add(new Problem(place.get().at(), "", message));
    }
    for (Map.Entry<String, String> run : runs.entrySet()) {
      boolean unnamed = run.getKey().equals(UNNAMED);
      String reference = "${stages." + run.getKey() + ".";
      boolean used =
          (unnamed && place.isPresent())
              || first(root, text -> text.contains(reference)).isPresent();
      if (!used) {
        problems.add(new Problem(mapping.at(), "", unused(run.getKey(), run.getValue())));
      }
    }
    return runs.isEmpty() ? root : applied(mapping);
  }

  private static String unused(String name, String run) {
    return name.equals(UNNAMED)
        ? "--from %s, but %s stands nowhere in model_name, lora_adapters or options"
            .formatted(run, PLACE)
        : ("--from %s=%s, but the config has neither ${stages.%s.output} nor"
                + " ${stages.%s.checkpoint}")
            .formatted(name, run, name, name);
  }

  private Mapping applied(Mapping root) {
    Map<String, Entry> entries = new LinkedHashMap<>(root.entries());
    String reference = "${stages." + UNNAMED + ".checkpoint}";
    for (String key : KEYS) {
      entries.computeIfPresent(
          key,
          (name, entry) ->
              new Entry(
                  entry.keyAt(), entry.value().withTexts(text -> text.replace(PLACE, reference))));
    }
    if (modelSize.isPresent()
        && root.value(MODEL) instanceof Scalar name
        && name.text().equals(PLACE)) {
      entries.putIfAbsent(
          "model_size", entry(new Scalar(name.at(), modelSize.get(), ScalarType.STRING)));
    }
    entries.put("tags", tags(root, entries.get("tags")));
    Entry resources = entries.get("resources");
    if (!nodes.isEmpty() && resources != null && resources.value() instanceof Mapping asked) {
      Map<String, Entry> with = new LinkedHashMap<>(asked.entries());
      String names = String.join(",", nodes.subList(0, Math.min(nodes.size(), count(asked))));
      with.put("nodelist", entry(new Scalar(asked.at(), names, ScalarType.STRING)));
      entries.put("resources", new Entry(resources.keyAt(), new Mapping(asked.at(), with)));
    }
    return new Mapping(root.at(), entries);
  }

  private Entry tags(Mapping root, @org.jspecify.annotations.Nullable Entry written) {
    if (written != null && !(written.value() instanceof Sequence)) {
      return written;
    }
    List<YamlNode> tags =
        written != null && written.value() instanceof Sequence list
            ? new ArrayList<>(list.elements())
            : new ArrayList<>();
    runs.values().forEach(run -> tags.add(new Scalar(root.at(), "from:" + run, ScalarType.STRING)));
    return entry(new Sequence(root.at(), tags));
  }

  private static Entry entry(YamlNode value) {
    return new Entry(value.at(), value);
  }

  /** Returns the number of nodes that the config asks for. Slurm refuses a longer node list. */
  private static int count(Mapping resources) {
    return resources.value("nodes") instanceof Scalar number
            && number.text().matches("[1-9]\\d{0,5}")
        ? Integer.parseInt(number.text())
        : 1;
  }

  /** Returns the first text below a node that fits. */
  private static Optional<Scalar> first(YamlNode node, Predicate<String> fits) {
    return node.scalars().filter(scalar -> fits.test(scalar.text())).findFirst();
  }
}
