package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One value of a config, with its source.
 *
 * @param key its whole path: {@code approval_over.amount}
 * @param value the value as written
 * @param from FILE:LINE:COLUMN, or {@code default}
 */
public record Setting(String key, String value, String from) {

  /**
   * Returns the values of a file, in its order, then the defaults of the top-level keys that it
   * leaves out.
   */
  public static List<Setting> of(YamlNode root, Section spec) {
    List<Setting> settings = new ArrayList<>();
    add(root, "", settings);
    Map<String, YamlNode.Entry> written =
        root instanceof YamlNode.Mapping mapping ? mapping.entries() : Map.of();
    spec.keys().stream()
        .filter(key -> !written.containsKey(key.name()) && !key.fallback().isEmpty())
        .forEach(key -> settings.add(new Setting(key.name(), key.fallback(), "default")));
    return settings;
  }

  private static void add(YamlNode node, String path, List<Setting> settings) {
    if (node instanceof YamlNode.Mapping mapping) {
      mapping
          .entries()
          .forEach((key, entry) -> add(entry.value(), YamlNode.child(path, key), settings));
    } else if (node instanceof YamlNode.Sequence list) {
      if (list.elements().isEmpty()) {
        settings.add(new Setting(path, "[]", list.at().toString()));
      }
      for (int i = 0; i < list.elements().size(); i++) {
        add(list.elements().get(i), path + "[" + i + "]", settings);
      }
    } else {
      settings.add(new Setting(path, ((YamlNode.Scalar) node).text(), node.at().toString()));
    }
  }
}
