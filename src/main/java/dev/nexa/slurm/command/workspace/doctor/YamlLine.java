package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;

/** Finds keys in a file, for an editor. */
final class YamlLine {
  private YamlLine() {}

  /**
   * Returns the line of a key with all its parents, counted from 1; 0 for a key that is not
   * written, and for a file that cannot be read as YAML.
   *
   * @param key such as {@code storage.scratch}
   */
  static int of(Path file, String key) {
    return Files.isReadable(file)
        ? YamlReader.read("", DurableFiles.read(file), new ArrayList<>())
            .map(root -> of(root, key))
            .orElse(0)
        : 0;
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
