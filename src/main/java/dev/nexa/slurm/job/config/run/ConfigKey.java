package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.Axis;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.ListOf;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import java.util.List;
import java.util.Optional;

/**
 * A key of a run's config, in words.
 *
 * @param path the key's path, such as {@code resources.memory}
 * @param value what the key takes
 * @param required whether a config must have it, unless it follows from other keys or the profile
 * @param fallback the default value; an empty text for none
 * @param doc what the key does
 */
public record ConfigKey(String path, String value, boolean required, String fallback, String doc) {

  /**
   * Returns the keys of a section, or one key.
   *
   * @param path a key's path; an empty text for the top level
   * @return empty if there is no such key
   */
  public static List<ConfigKey> of(String path) {
    return path.isEmpty() ? all(RunConfig.SPEC, "") : of(RunConfig.SPEC, "", path);
  }

  /**
   * A name of another program for one of our keys.
   *
   * @param key the path of our key; an empty text if we have none
   * @param remark what to know about the key; may be empty
   */
  public record Elsewhere(String key, String remark) {}

  /**
   * Returns what a name of sbatch, Hydra or Hugging Face is in a run's config, also a key without
   * its section; empty if the name is not known.
   */
  public static Optional<Elsewhere> elsewhere(String name) {
    int dot = name.lastIndexOf('.');
    boolean inSection = dot > 0 && !of(name.substring(0, dot)).isEmpty();
    return KeyHomes.known(inSection ? name.substring(dot + 1) : name)
        .map(home -> new Elsewhere(home.key(), home.remark()));
  }

  private static List<ConfigKey> of(Section section, String above, String path) {
    int dot = path.indexOf('.');
    String first = dot < 0 ? path : path.substring(0, dot);
    for (KnownKey key : section.keys()) {
      if (key.name().equals(first)) {
        String whole = YamlNode.child(above, first);
        if (!(key.shape() instanceof Section below)) {
          return dot < 0 ? List.of(of(key, above)) : List.of();
        }
        return dot < 0 ? all(below, whole) : of(below, whole, path.substring(dot + 1));
      }
    }
    return List.of();
  }

  private static List<ConfigKey> all(Section section, String path) {
    return section.keys().stream().map(key -> of(key, path)).toList();
  }

  private static ConfigKey of(KnownKey key, String above) {
    String path = YamlNode.child(above, key.name());
    return new ConfigKey(path, words(key.shape()), key.required(), key.fallback(), key.doc());
  }

  private static String words(Schema shape) {
    if (shape instanceof ValueType type) {
      return type.expected();
    }
    if (shape instanceof ListOf list) {
      return list.element() instanceof ValueType type
          ? "a list of " + type.several()
          : "a list of mappings";
    }
    if (shape instanceof Axis axis) {
      return "a list of values" + (axis.range().isPresent() ? ", or a range {min: …, max: …}" : "");
    }
    return shape instanceof Section ? "a section" : "a mapping";
  }
}
