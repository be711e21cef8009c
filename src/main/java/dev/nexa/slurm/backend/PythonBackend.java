package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.ConfigException;
import dev.nexa.slurm.config.RunConfig.Entrypoint;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code backend: python}: a script or module of the user's, given {@code --config FILE} with the
 * training keys as JSON (the seeds' calling convention). With GPUs or several nodes torchrun starts
 * one process for each rank. Its {@code options} are flags of the program.
 */
public final class PythonBackend implements Backend {
  private static final String CONFIG = "config.json";
  private static final String DATASET = "dataset_path";

  @Override
  public String name() {
    return "python";
  }

  @Override
  public Launch launch(Plan plan) {
    Entrypoint entrypoint =
        plan.entrypoint()
            .orElseThrow(
                () ->
                    new ConfigException(
                        plan.written()
                            .problem(
                                "entrypoint",
                                "missing; backend python starts its script or module")));
    List<RunnerFile> files = entrypoint.config() ? List.of(config(plan)) : List.of();
    List<String> program = program(entrypoint, plan.options());
    if (entrypoint.torchrun()) {
      return Torchrun.launch(plan, entrypoint.launcherArgs(), program, files);
    }
    List<String> command = new ArrayList<>(List.of("python3"));
    command.addAll(program);
    boolean nodes = plan.allocation().nodes() > 1;
    return new Launch(nodes ? Launch.DISTRIBUTED : Launch.TASK, command, files);
  }

  /** The words that a launcher starts; the options are flags of the program, as it names them. */
  static List<String> program(Entrypoint entrypoint, JsonObject options) {
    List<String> words = new ArrayList<>();
    entrypoint.module().ifPresent(module -> words.addAll(List.of("-m", module)));
    entrypoint.script().ifPresent(script -> words.add("${run_dir}/runner/" + baseName(script)));
    if (entrypoint.config()) {
      words.addAll(List.of("--config", "${run_dir}/runner/" + CONFIG));
    }
    words.addAll(entrypoint.args());
    flags(words, "", options);
    return words;
  }

  /**
   * {@code name: value} is --name value, true the flag alone, false nothing, a list many values.
   */
  private static void flags(List<String> words, String above, JsonObject options) {
    for (Map.Entry<String, @Nullable Object> option : options.members().entrySet()) {
      String name = above + option.getKey();
      Object value = option.getValue();
      if (value instanceof JsonObject below) {
        flags(words, name + ".", below);
      } else if (!Boolean.FALSE.equals(value)) {
        words.add(name.startsWith("-") ? name : "--" + name);
        List<?> values = value instanceof List<?> list ? list : List.of(word(value));
        for (Object element : Boolean.TRUE.equals(value) ? List.of() : values) {
          words.add(word(element));
        }
      }
    }
  }

  private static String word(@Nullable Object value) {
    return value instanceof String text ? text : Json.compact(value);
  }

  private static String baseName(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** The training keys; a program reads this file, not the shell, so the tiers are written out. */
  static RunnerFile config(Plan plan) {
    JsonObject config = plan.trainingJson();
    config.optionalText(DATASET).ifPresent(path -> config.with(DATASET, plan.atTiers(path)));
    return RunnerFile.text(CONFIG, Json.pretty(config));
  }
}
