package dev.nexa.slurm.job.config.pipeline;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Condition;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Stage;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The order of a pipeline's stages. Pure. */
final class StageOrder {
  private StageOrder() {}

  /**
   * Returns the stages that a stage waits for. A name with items means each of them.
   *
   * @param items the items of each stage's {@code for_each}; empty for none
   */
  static Map<String, Condition> after(String name, Values stage, Map<String, List<String>> items) {
    Map<String, Condition> after = new LinkedHashMap<>();
    for (String written : stage.texts("after")) {
      int colon = written.indexOf(':');
      Condition condition =
          colon < 0
              ? Condition.AFTEROK
              : Condition.valueOf(written.substring(0, colon).toUpperCase(Locale.ROOT));
      String target = written.substring(colon + 1);
      List<String> full = named(target, items);
      if (full.isEmpty()) {
        String hint = Nearest.hint(target, all(items));
        stage.report("after", "there is no stage '" + target + "'" + hint);
      } else if (target.equals(name) || target.startsWith(name + ".")) {
        stage.report("after", "a stage cannot wait for itself");
      }
      for (String one : full) {
        if (after.putIfAbsent(one, condition) != null) {
          stage.report("after", "names the stage '" + one + "' twice");
        }
      }
    }
    return after;
  }

  private static List<String> named(String target, Map<String, List<String>> items) {
    int dot = target.indexOf('.');
    List<String> each = items.get(dot < 0 ? target : target.substring(0, dot));
    if (each == null) {
      return List.of();
    }
    if (dot < 0) {
      return each.isEmpty() ? List.of(target) : each.stream().map(i -> target + "." + i).toList();
    }
    return each.contains(target.substring(dot + 1)) ? List.of(target) : List.of();
  }

  private static List<String> all(Map<String, List<String>> items) {
    List<String> all = new ArrayList<>(items.keySet());
    items.forEach((name, each) -> each.forEach(item -> all.add(name + "." + item)));
    return all;
  }

  /**
   * Returns the stages so that each stands after the stages that it waits for. Otherwise the order
   * of the file stays.
   *
   * @throws ConfigException if stages wait for each other in a circle; the message names them
   */
  static List<Stage> sorted(List<Stage> stages, Values written) {
    Map<String, Stage> open = new LinkedHashMap<>();
    stages.forEach(stage -> open.put(stage.name(), stage));
    List<Stage> sorted = new ArrayList<>();
    while (!open.isEmpty()) {
      Stage next =
          open.values().stream()
              .filter(stage -> stage.after().keySet().stream().noneMatch(open::containsKey))
              .findFirst()
              .orElseThrow(() -> circle(open, written));
      open.remove(next.name());
      sorted.add(next);
    }
    return List.copyOf(sorted);
  }

  /** Names a circle: of the stages that are left, each waits for another of them. */
  private static ConfigException circle(Map<String, Stage> open, Values written) {
    List<Stage> path = new ArrayList<>();
    Stage stage = open.values().iterator().next();
    while (!path.contains(stage)) {
      path.add(stage);
      stage = waitedFor(stage, open);
    }
    path.add(stage);
    List<String> circle =
        path.subList(path.indexOf(stage), path.size()).stream().map(Stage::name).toList();
    String message = "the stages wait in a circle: " + String.join(" → ", circle);
    return new ConfigException(written.section(stage.base()).problem("after", message));
  }

  private static Stage waitedFor(Stage stage, Map<String, Stage> open) {
    return stage.after().keySet().stream()
        .filter(open::containsKey)
        .map(open::get)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(stage.name() + " waits for no open stage"));
  }
}
