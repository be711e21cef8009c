package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.workspace.ProfileDifferences.Difference;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Says how a profile gets the cluster's values: the lines of the user's file stay as they are. */
final class ProfileEdit {
  private final List<String> lines;
  private final Optional<YamlNode> tree;

  private ProfileEdit(String text) {
    this.lines = text.lines().toList();
    this.tree = YamlReader.read("", text, new ArrayList<>());
  }

  /**
   * Returns the commands.
   *
   * @param file the profile's file, which can be read as YAML
   * @param name the profile's name
   */
  static List<Advice> of(Path file, String name, List<Difference> differences) {
    ProfileEdit edit = new ProfileEdit(DurableFiles.read(file));
    List<Object> sed = new ArrayList<>(List.of("sed", "-i", "--follow-symlinks"));
    // sed -i makes a new file beside the old one.
    boolean may = Files.isWritable(file) && Files.isWritable(file.resolveSibling(""));
    List<Advice> remedies = new ArrayList<>();
    for (Difference one : differences) {
      Optional<String> script = edit.script(one);
      if (one.cluster().equals("there")) {
        String copy = "writes the cluster's values to a file of its own; copy " + one.key();
        remedies.add(Access.type("nexa-slurm init --cluster " + name + "-now", copy));
      } else if (script.isPresent() && may) {
        sed.addAll(List.of("-e", script.get()));
      } else {
        String what =
            one.cluster().equals("-")
                ? "remove " + one.key()
                : "write " + one.key() + ": " + one.cluster();
        int line = edit.lineOf(one.key());
        String section = one.key().replaceFirst("\\.[^.]*$", "");
        remedies.add(Access.change(file, line > 0 ? line : edit.lineOf(section), what));
      }
    }
    if (sed.contains("-e")) {
      sed.add(file);
      remedies.add(0, Advice.command("writes the cluster's values", sed.toArray()));
    }
    return remedies;
  }

  /**
   * Returns the sed script that writes the cluster's value over the file's; empty if the key is not
   * written, or not in the form {@code key: value} once in its line.
   */
  private Optional<String> script(Difference one) {
    String key = one.key().substring(one.key().lastIndexOf('.') + 1);
    String value = one.cluster();
    int line = lineOf(one.key());
    if (line == 0 || !(key + value).matches("[A-Za-z0-9_:=,. -]+") || value.equals("-")) {
      return Optional.empty();
    }
    String before = lines.get(line - 1);
    String form = "\\b" + key + ": *[^,}#]*[^ ,}#]";
    boolean once = before.split(form, -1).length == 2;
    boolean bare = before.matches(".*" + form + "( *[,}#].*|\\s*)") && !before.matches(".*['\"].*");
    return once && bare && !value.contains(",")
        ? Optional.of("%ds/\\b%s: *[^,}#]*[^ ,}#]/%s: %s/".formatted(line, key, key, value))
        : Optional.empty();
  }

  private int lineOf(String path) {
    return tree.map(root -> lineOf(root, path)).orElse(0);
  }

  /** Returns the line of a key with all its parents; of a key that is not written, 0. */
  private static int lineOf(YamlNode node, String path) {
    if (node instanceof Mapping mapping) {
      for (Map.Entry<String, YamlNode.Entry> entry : mapping.entries().entrySet()) {
        String key = entry.getKey();
        if (path.equals(key)) {
          return entry.getValue().keyAt().line();
        }
        int below =
            path.startsWith(key + ".")
                ? lineOf(entry.getValue().value(), path.substring(key.length() + 1))
                : 0;
        if (below > 0) {
          return below;
        }
      }
    }
    return 0;
  }
}
