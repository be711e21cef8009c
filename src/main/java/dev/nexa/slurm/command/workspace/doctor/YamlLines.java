package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lines of a YAML file in which its keys are, for an editor.
 *
 * @param lines its lines; none if it cannot be read
 * @param root its content; empty if it cannot be read as YAML
 */
record YamlLines(List<String> lines, Optional<YamlNode> root) {
  static YamlLines of(Path file) {
    String text = Files.isReadable(file) ? DurableFiles.read(file) : "";
    return new YamlLines(text.lines().toList(), YamlReader.read("", text, new ArrayList<>()));
  }

  /**
   * Returns the line of a key with all its parents, counted from 1; 0 for a key that is not
   * written, and for a file that cannot be read as YAML.
   *
   * @param key such as {@code storage.scratch}
   */
  int of(String key) {
    return root.map(it -> of(it, key)).orElse(0);
  }

  private static int of(YamlNode node, String path) {
    if (node instanceof Mapping mapping) {
      for (Map.Entry<String, YamlNode.Entry> entry : mapping.entries().entrySet()) {
        String key = entry.getKey();
        if (path.equals(key)) {
          return entry.getValue().keyAt().line();
        }
        int below =
            path.startsWith(key + ".")
                ? of(entry.getValue().value(), path.substring(key.length() + 1))
                : 0;
        if (below > 0) {
          return below;
        }
      }
    }
    return 0;
  }
}
