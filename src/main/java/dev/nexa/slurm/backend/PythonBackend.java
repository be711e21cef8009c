package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.ConfigException;
import dev.nexa.slurm.config.RunConfig.Entrypoint;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code backend: python}: a script or module of the user's, given {@code --config FILE} with the
 * training keys as JSON (the seeds' calling convention). With GPUs or several nodes torchrun starts
 * one process for each rank.
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
    return Torchrun.launch(plan, program(entrypoint), config(plan));
  }

  /** The words that a launcher starts. */
  static List<String> program(Entrypoint entrypoint) {
    List<String> words = new ArrayList<>();
    entrypoint.module().ifPresent(module -> words.addAll(List.of("-m", module)));
    entrypoint.script().ifPresent(script -> words.add("${run_dir}/runner/" + baseName(script)));
    words.addAll(List.of("--config", "${run_dir}/runner/" + CONFIG));
    words.addAll(entrypoint.args());
    return words;
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
