package dev.nexa.slurm.job.config;

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

/**
 * A finished run whose checkpoint a config continues from.
 *
 * <p>Its path replaces {@code ${checkpoint}} in {@code model_name}, {@code lora_adapters} and
 * {@code options}. The new run gets the tag {@code from:RUN}.
 *
 * @param runId the id of the finished run
 * @param checkpoint the path of its checkpoint
 * @param nodes the nodes that the new run must use; empty if it may use any
 */
public record FromRun(String runId, String checkpoint, List<String> nodes) {
  private static final String PLACE = "${checkpoint}";
  private static final List<String> KEYS = List.of("model_name", "lora_adapters", "options");

  /**
   * Inserts the checkpoint into a config's tree.
   *
   * <p>Adds a problem if the config asks for a checkpoint and {@code from} is empty, or if {@code
   * from} is given and the config has no place for it.
   */
  static YamlNode apply(YamlNode root, Optional<FromRun> from, List<Problem> problems) {
    if (!(root instanceof Mapping mapping)) {
      return root;
    }
    Optional<Scalar> first = Optional.empty();
    for (String key : KEYS) {
      Entry entry = mapping.entries().get(key);
      if (first.isEmpty() && entry != null) {
        first = place(entry.value());
      }
    }
    if (from.isEmpty()) {
      if (first.isPresent()) {
        String message = PLACE + " is a finished run's: name that run with --from RUN";
        problems.add(new Problem(first.get().at(), "", message));
      }
      return root;
    }
    if (first.isEmpty()) {
      String message =
          "--from " + from.get().runId() + ", but " + PLACE + " stands nowhere in model_name,";
      problems.add(new Problem(mapping.at(), "", message + " lora_adapters or options"));
    }
    return from.get().applied(mapping);
  }

  private Mapping applied(Mapping root) {
    Map<String, Entry> entries = new LinkedHashMap<>(root.entries());
    for (String key : KEYS) {
      Entry entry = entries.get(key);
      if (entry != null) {
        entries.put(key, new Entry(entry.keyAt(), replaced(entry.value())));
      }
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
    tags.add(new Scalar(root.at(), "from:" + runId, ScalarType.STRING));
    return entry(new Sequence(root.at(), tags));
  }

  private static Entry entry(YamlNode value) {
    return new Entry(value.at(), value);
  }

  /** Returns the number of nodes that the config asks for. Slurm refuses a longer node list. */
  private static int count(Mapping resources) {
    Entry nodes = resources.entries().get("nodes");
    return nodes != null
            && nodes.value() instanceof Scalar number
            && number.text().matches("[1-9]\\d{0,5}")
        ? Integer.parseInt(number.text())
        : 1;
  }

  private static Optional<Scalar> place(YamlNode node) {
    if (node instanceof Scalar scalar) {
      return scalar.text().contains(PLACE) ? Optional.of(scalar) : Optional.empty();
    }
    for (YamlNode below : below(node)) {
      Optional<Scalar> found = place(below);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static List<YamlNode> below(YamlNode node) {
    List<YamlNode> below = new ArrayList<>();
    if (node instanceof Sequence list) {
      below.addAll(list.elements());
    } else if (node instanceof Mapping mapping) {
      for (Entry entry : mapping.entries().values()) {
        below.add(entry.value());
      }
    }
    return below;
  }

  private YamlNode replaced(YamlNode node) {
    if (node instanceof Scalar scalar) {
      return new Scalar(scalar.at(), scalar.text().replace(PLACE, checkpoint), scalar.type());
    }
    if (node instanceof Sequence list) {
      List<YamlNode> elements = new ArrayList<>();
      list.elements().forEach(element -> elements.add(replaced(element)));
      return new Sequence(list.at(), elements);
    }
    Map<String, Entry> entries = new LinkedHashMap<>();
    ((Mapping) node)
        .entries()
        .forEach(
            (key, entry) -> entries.put(key, new Entry(entry.keyAt(), replaced(entry.value()))));
    return new Mapping(node.at(), entries);
  }
}
