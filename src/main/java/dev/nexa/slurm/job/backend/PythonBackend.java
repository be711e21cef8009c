package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Entrypoint;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code backend: python}: runs the user's script or module with {@code --config FILE}, the
 * training keys as JSON.
 *
 * <p>With GPUs or several nodes, torchrun starts one process for each rank. {@code options} become
 * flags of the program.
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
    if (plan.payload().entrypoint().isEmpty()) {
      String message = "missing; backend python starts its script or module";
      throw plan.written().error("entrypoint", message);
    }
    Entrypoint entrypoint = plan.payload().entrypoint().get();
    if (!entrypoint.launcherArgs().isEmpty()
        && (plan.shape().ranksPerNode() == 0 || !entrypoint.torchrun())) {
      String message =
          "torchrun does not start this program, so nothing reads them; leave them out, or"
              + " write launcher: torchrun";
      throw plan.written().error("entrypoint.launcher_args", message);
    }
    List<RunnerFile> files = entrypoint.config() ? List.of(config(plan)) : List.of();
    List<String> program = program(plan, entrypoint, plan.options());
    if (entrypoint.torchrun()) {
      return Torchrun.launch(plan, entrypoint.launcherArgs(), program, files);
    }
    List<String> command = new ArrayList<>(List.of("python3"));
    command.addAll(program);
    boolean nodes = plan.allocation().nodes() > 1;
    return new Launch(nodes ? Launch.DISTRIBUTED : Launch.TASK, command, files);
  }

  /**
   * Returns the program and its arguments. The options become flags with the names that the program
   * uses.
   */
  static List<String> program(Plan plan, Entrypoint entrypoint, JsonObject options) {
    List<String> words = new ArrayList<>();
    entrypoint.module().ifPresent(module -> words.addAll(List.of("-m", module)));
    entrypoint.script().ifPresent(script -> words.add(plan.payload().scriptInJob(script)));
    if (entrypoint.config()) {
      words.addAll(List.of("--config", "${run_dir}/runner/" + CONFIG));
    }
    words.addAll(entrypoint.args());
    flags(words, "", options);
    return words;
  }

  /**
   * Adds {@code name: value} as {@code --name value}, true as the flag alone, and a list as several
   * values. Skips false and null.
   */
  private static void flags(List<String> words, String above, JsonObject options) {
    for (Map.Entry<String, @Nullable Object> option : options.members().entrySet()) {
      String name = above + option.getKey();
      Object value = option.getValue();
      if (value instanceof JsonObject below) {
        flags(words, name + ".", below);
      } else if (value != null && !Boolean.FALSE.equals(value)) {
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

  /**
   * Returns the file with the training keys. Storage tiers become paths, because the program reads
   * the file without a shell.
   */
  static RunnerFile config(Plan plan) {
    JsonObject config = plan.trainingJson();
    config.optionalText(DATASET).ifPresent(path -> config.with(DATASET, plan.atTiers(path)));
    return RunnerFile.text(CONFIG, Json.pretty(config));
  }
}
