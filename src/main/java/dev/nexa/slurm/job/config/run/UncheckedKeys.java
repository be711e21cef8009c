package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The top-level keys of a run's config before they are checked, and the keys that its sweep sets.
 */
final class UncheckedKeys {
  private final Position at;
  private final Map<String, Entry> keys;

  UncheckedKeys(Mapping written) {
    this.at = written.at();
    this.keys = new LinkedHashMap<>(written.entries());
  }

  /** Returns the config with the keys that were added. */
  Mapping mapping() {
    return new Mapping(at, keys);
  }

  /** Adds or replaces a top-level key. */
  void put(String key, YamlNode value) {
    keys.put(key, new Entry(value.at(), value));
  }

  /** Returns whether the config has the key at its top level. */
  boolean writes(String key) {
    return keys.containsKey(key);
  }

  /** Returns the value of a top-level key; null if it is missing. */
  @Nullable YamlNode value(String key) {
    Entry entry = keys.get(key);
    return entry == null ? null : entry.value();
  }

  /** Returns the text of a top-level scalar; empty if the key is missing or no scalar. */
  Optional<String> text(String key) {
    return value(key) instanceof Scalar scalar ? Optional.of(scalar.text()) : Optional.empty();
  }

  /** Returns whether the config or its sweep sets the key. */
  boolean has(String key) {
    return writes(key) || varies(key);
  }

  /** Returns the key's path: {@code lr}, or {@code sweep.lr} if only the sweep sets it. */
  String path(String key) {
    return writes(key) ? key : "sweep." + key;
  }

  /** Returns the position of a key that the config or its sweep sets. */
  Position at(String key) {
    return Objects.requireNonNull(value(writes(key) ? key : "sweep")).at();
  }

  /** Returns whether the sweep sets the key. */
  boolean varies(String key) {
    if (!(value("sweep") instanceof Mapping sweep)) {
      return false;
    }
    Entry points = sweep.entries().get("points");
    List<YamlNode> all =
        points != null && points.value() instanceof Sequence list ? list.elements() : List.of();
    return Stream.concat(Stream.of(sweep), all.stream())
        .anyMatch(one -> one instanceof Mapping values && values.entries().containsKey(key));
  }
}
