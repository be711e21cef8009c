package dev.nexa.slurm.job.config;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Checks the references of a run's config to earlier stages of its pipeline: {@code
 * ${stages.NAME.output}} and {@code ${stages.NAME.checkpoint}}.
 */
final class StageReferences {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{stages\\.([^}]*)}");
  private static final Pattern KNOWN = Pattern.compile("(.+)\\.(output|checkpoint)");

  private final PipelineConfig.Stage stage;
  private final List<Problem> problems;

  private StageReferences(PipelineConfig.Stage stage, List<Problem> problems) {
    this.stage = stage;
    this.problems = problems;
  }

  /**
   * Adds a problem for each reference that cannot be resolved.
   *
   * @param stage the stage that the config is read for
   */
  static void check(YamlNode root, PipelineConfig.Stage stage, List<Problem> problems) {
    new StageReferences(stage, problems).walk(root);
  }

  private void walk(YamlNode node) {
    if (node instanceof Scalar scalar) {
      Matcher reference = REFERENCE.matcher(scalar.text());
      while (reference.find()) {
        check(scalar.at(), reference.group(1));
      }
    } else if (node instanceof Sequence list) {
      list.elements().forEach(this::walk);
    } else {
      ((Mapping) node).entries().values().forEach(entry -> walk(entry.value()));
    }
  }

  private void check(Position at, String reference) {
    String whole = "${stages." + reference + "}";
    Matcher known = KNOWN.matcher(reference);
    if (!known.matches()) {
      String message = whole + ": expected ${stages.NAME.output} or ${stages.NAME.checkpoint}";
      problems.add(new Problem(at, "", message));
      return;
    }
    String name = known.group(1);
    List<String> after = new ArrayList<>(stage.after().keySet());
    if (!after.contains(name)) {
      boolean several = after.stream().anyMatch(other -> other.startsWith(name + "."));
      String message =
          several
              ? whole + ": the stage " + name + " has several items; name one of " + items(name)
              : whole
                  + ": the stage "
                  + stage.name()
                  + " does not wait for '"
                  + name
                  + "'; add it to `after`"
                  + Nearest.hint(name, after);
      problems.add(new Problem(at, "", message));
    }
  }

  private String items(String name) {
    return stage.after().keySet().stream()
        .filter(other -> other.startsWith(name + "."))
        .collect(Collectors.joining(", "));
  }
}
