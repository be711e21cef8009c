package dev.nexa.slurm.job.config.pipeline;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Condition;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks the references of a run's config to earlier stages of its pipeline, or to the runs of
 * {@code --from}: {@code ${stages.NAME.output}} and {@code ${stages.NAME.checkpoint}}.
 */
public record StageReferences(
    Optional<PipelineConfig.Stage> stage, FromRuns from, List<Problem> problems) {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{stages\\.([^}]*)}");
  private static final Pattern KNOWN = Pattern.compile("(.+)\\.(output|checkpoint)");

  /**
   * Adds a problem for each reference that cannot be resolved.
   *
   * @param stage the stage that the config is read for; empty for a run outside a pipeline
   * @param from the earlier runs that {@code --from} names, for a run outside a pipeline
   * @return whether there was no such problem
   */
  public static boolean check(
      YamlNode root, Optional<PipelineConfig.Stage> stage, FromRuns from, List<Problem> problems) {
    int before = problems.size();
    StageReferences references = new StageReferences(stage, from, problems);
    root.scalars().forEach(references::check);
    return problems.size() == before;
  }

  private void check(Scalar scalar) {
    Matcher reference = REFERENCE.matcher(scalar.text());
    while (reference.find()) {
      check(scalar.at(), reference.group(1));
    }
  }

  private void check(Position at, String reference) {
    String whole = "${stages." + reference + "}";
    Matcher known = KNOWN.matcher(reference);
    if (stage.isEmpty()) {
      // Another program may use such braces for something else.
      String name = known.matches() ? known.group(1) : "";
      if (known.matches() && !from.runs().containsKey(name)) {
        problem(at, whole + ": " + from.problemOf(name));
      }
      return;
    }
    if (!known.matches()) {
      problem(at, whole + ": expected ${stages.NAME.output} or ${stages.NAME.checkpoint}");
      return;
    }
    problemOf(stage.get(), known.group(1)).ifPresent(why -> problem(at, whole + ": " + why));
  }

  private void problem(Position at, String message) {
    problems.add(new Problem(at, "", message));
  }

  /** Returns why the stage cannot use what another stage makes. */
  private static Optional<String> problemOf(PipelineConfig.Stage stage, String name) {
    Condition condition = stage.after().get(name);
    if (condition == Condition.AFTERNOTOK) {
      return Optional.of("the stage " + stage.name() + " starts only if '" + name + "' has failed");
    }
    if (condition != null) {
      return Optional.empty();
    }
    if (name.equals(stage.name()) || name.equals(stage.base())) {
      return Optional.of("a stage cannot use what it makes itself");
    }
    List<String> items =
        stage.after().keySet().stream().filter(other -> other.startsWith(name + ".")).toList();
    return Optional.of(
        items.isEmpty()
            ? "'%s' is not in `after` of the stage %s%s"
                .formatted(name, stage.name(), Nearest.hint(name, stage.after().keySet()))
            : "the stage " + name + " has several items; name one of " + String.join(", ", items));
  }
}
