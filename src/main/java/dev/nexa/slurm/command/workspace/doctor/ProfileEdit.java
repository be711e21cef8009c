package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.command.workspace.ProfileDifferences.Difference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Says how to write the cluster's values into a profile. The other lines do not change. */
final class ProfileEdit {
  private ProfileEdit() {}

  /**
   * Returns the commands.
   *
   * @param file the profile's file, which can be read as YAML
   * @param name the profile's name
   */
  static List<Advice> of(Path file, String name, List<Difference> differences) {
    YamlLines lines = YamlLines.of(file);
    List<Object> sed = new ArrayList<>(List.of("sed", "-i", "--follow-symlinks"));
    // sed -i makes a new file beside the old one.
    boolean may = Files.isWritable(file) && Files.isWritable(file.resolveSibling(""));
    List<Advice> remedies = new ArrayList<>();
    List<String> gone = keys(differences, one -> one.file().equals("there"));
    List<String> come = keys(differences, one -> one.cluster().equals("there"));
    if (may
        && gone.size() == 1
        && come.size() == 1
        && rename(lines, gone.get(0), come.get(0), sed)) {
      // The other values can be compared only when both sides have the same name.
      sed.add(file);
      return List.of(Advice.command("renames the partition as on the cluster", sed.toArray()));
    }
    for (Difference one : differences) {
      int line = lines.of(one.key());
      Optional<String> script =
          line == 0 ? Optional.empty() : script(one, line, lines.lines().get(line - 1));
      if (one.cluster().equals("there")) {
        String copy = "writes the cluster's values to a file of its own; copy " + one.key();
        remedies.add(Access.type("nexa-slurm init --cluster " + name + "-now", copy));
      } else if (script.isPresent()
          && may
          // The profile cannot be read while it lacks its default partition.
          && (come.isEmpty() || !one.key().equals("default_partition"))) {
        sed.addAll(List.of("-e", script.get()));
      } else {
        String what =
            one.cluster().equals("-")
                ? "remove " + one.key()
                : "write " + one.key() + ": " + one.cluster();
        String section = one.key().replaceFirst("\\.[^.]*$", "");
        remedies.add(Access.change(file, line > 0 ? line : lines.of(section), what));
      }
    }
    if (sed.contains("-e")) {
      sed.add(file);
      remedies.add(0, Advice.command("writes the cluster's values", sed.toArray()));
    }
    return remedies;
  }

  private static List<String> keys(List<Difference> differences, Predicate<Difference> which) {
    return differences.stream().filter(which).map(Difference::key).toList();
  }

  /** Adds the scripts that rename a partition; returns false if its line has another form. */
  private static boolean rename(YamlLines lines, String gone, String come, List<Object> sed) {
    String before = gone.substring(gone.lastIndexOf('.') + 1);
    String after = come.substring(come.lastIndexOf('.') + 1);
    int line = lines.of(gone);
    int usual = lines.of("default_partition");
    if (!(before + after).matches("[A-Za-z0-9_-]+")
        || line == 0
        || !lines.lines().get(line - 1).matches(" *" + before + ":.*")) {
      return false;
    }
    sed.addAll(List.of("-e", "%ds/%s:/%s:/".formatted(line, before, after)));
    if (usual > 0) {
      String whole = "%ds/^\\(default_partition: *\\)%s\\( \\|$\\)/\\1%s\\2/";
      sed.addAll(List.of("-e", whole.formatted(usual, before, after)));
    }
    return true;
  }

  /**
   * Returns the sed script that writes the cluster's value over the file's; empty if the key is not
   * in the form {@code key: value} once in its line.
   */
  private static Optional<String> script(Difference one, int line, String before) {
    String key = one.key().substring(one.key().lastIndexOf('.') + 1);
    String value = one.cluster();
    if (!(key + value).matches("[A-Za-z0-9_:=,. -]+") || value.equals("-")) {
      return Optional.empty();
    }
    String form = "\\b" + key + ": *[^,}#]*[^ ,}#]";
    boolean once = before.split(form, -1).length == 2;
    boolean bare = before.matches(".*" + form + "( *[,}#].*|\\s*)") && !before.matches(".*['\"].*");
    return once && bare && !value.contains(",")
        ? Optional.of("%ds/\\b%s: *[^,}#]*[^ ,}#]/%s: %s/".formatted(line, key, key, value))
        : Optional.empty();
  }
}
