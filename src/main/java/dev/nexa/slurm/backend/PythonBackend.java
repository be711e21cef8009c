package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.ClusterProfile.Storage;
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
    boolean distributed = plan.ranksPerNode() > 0;
    List<String> command = new ArrayList<>(distributed ? Torchrun.words(plan) : List.of("python3"));
    entrypoint.module().ifPresent(module -> command.addAll(List.of("-m", module)));
    entrypoint.script().ifPresent(script -> command.add("${run_dir}/runner/" + baseName(script)));
    command.addAll(List.of("--config", "${run_dir}/runner/" + CONFIG));
    command.addAll(entrypoint.args());
    RunnerFile config = RunnerFile.text(CONFIG, Json.pretty(config(plan)));
    return new Launch(distributed ? Launch.DISTRIBUTED : Launch.TASK, command, List.of(config));
  }

  private static String baseName(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** The training keys; a program reads this file, not the shell, so the tiers are written out. */
  private static JsonObject config(Plan plan) {
    JsonObject config = plan.trainingJson();
    Storage tiers = plan.storage();
    config
        .optionalText(DATASET)
        .ifPresent(
            path ->
                config.with(
                    DATASET,
                    path.replace("${scratch}", tiers.scratch())
                        .replace("${durable}", tiers.durable())
                        .replace("${shared}", tiers.shared())));
    return config;
  }
}
