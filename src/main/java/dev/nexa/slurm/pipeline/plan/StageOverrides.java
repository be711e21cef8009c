package dev.nexa.slurm.pipeline.plan;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Gives each stage of a pipeline its part of {@code --set STAGE.KEY=VALUE}. Pure. */
final class StageOverrides {
  private StageOverrides() {}

  /**
   * Returns the overrides of each stage, as KEY=VALUE. The name of a stage with {@code for_each}
   * means all its items.
   *
   * @throws NexaException if an override names no stage
   */
  static Map<String, List<String>> byStage(PipelineConfig config, List<String> typed) {
    Map<String, List<String>> overrides = new HashMap<>();
    for (String one : typed) {
      if (!give(config, one, PipelineConfig.Stage::name, overrides)
          && !give(config, one, PipelineConfig.Stage::base, overrides)) {
        throw unknown(config, one);
      }
    }
    return overrides;
  }

  /** Gives an override to the stages with this name; false if there are none. */
  private static boolean give(
      PipelineConfig config,
      String typed,
      Function<PipelineConfig.Stage, String> name,
      Map<String, List<String>> overrides) {
    boolean found = false;
    for (PipelineConfig.Stage stage : config.stages()) {
      String begin = name.apply(stage) + ".";
      if (typed.startsWith(begin)) {
        overrides
            .computeIfAbsent(stage.name(), none -> new ArrayList<>())
            .add(typed.substring(begin.length()));
        found = true;
      }
    }
    return found;
  }

  private static NexaException unknown(PipelineConfig config, String typed) {
    List<String> names = config.stages().stream().map(PipelineConfig.Stage::name).toList();
    List<String> known = new ArrayList<>(names);
    config.stages().forEach(stage -> known.add(stage.base()));
    return ErrorCode.OPTION_INVALID.error(
        "--set %s: expected STAGE.KEY=VALUE with a stage of %s%s"
            .formatted(typed, config.file(), Nearest.hint(typed.split("[.=]", 2)[0], known)),
        "the stages are " + String.join(", ", names));
  }
}
