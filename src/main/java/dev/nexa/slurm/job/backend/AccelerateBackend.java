package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Entrypoint;
import dev.nexa.slurm.job.config.run.NativeOptions;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code backend: accelerate}: runs the config's entrypoint, or TRL's trainer if there is none,
 * under Accelerate with FSDP or DeepSpeed.
 *
 * <p>Writes Accelerate's config file. {@code options.accelerate} goes into that file, the other
 * options go to TRL or the program.
 */
public final class AccelerateBackend implements Backend {
  private static final String FILE = "accelerate.yaml";
  private static final String OPTIONS = "accelerate";
  private static final String SPREAD =
      "strategy fsdp fsdp_offload_params fsdp_state_dict_type offload";

  /**
   * For the shared keys, the file's keys that are made from them. With an options file, flags set
   * the other keys.
   */
  private static final Map<String, String> FROM =
      Map.of(
          Training.PRECISION,
          "mixed_precision",
          SPREAD,
          "distributed_type fsdp_config deepspeed_config",
          "plan",
          "use_cpu");

  @Override
  public String name() {
    return "accelerate";
  }

  @Override
  public List<String> shortNames() {
    return List.of("acc");
  }

  @Override
  public Launch launch(Plan plan) {
    List<Problem> problems = new ArrayList<>();
    ScalingMatrix.check(plan, name(), problems);
    if (plan.shape().ranksPerNode() == 0) {
      String message = "accelerate starts ranks; give GPUs or nodes";
      problems.add(plan.written().problem("resources.gpus_per_node", message));
    }
    JsonObject written = plan.options().optionalObject(OPTIONS).orElseGet(JsonObject::new);
    PlanDecides decides = new PlanDecides(plan, problems);
    JsonObject own = decides.options(OPTIONS, written, "options." + OPTIONS);
    RunnerOptions known = RunnerOptions.of("accelerate");
    known.check(own, "options." + OPTIONS, plan.written(), problems);
    List<RunnerFile> files = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    List<String> command = new ArrayList<>(launcher(plan));
    if (plan.payload().optionsFile().isPresent()) {
      NativeOptions file = plan.payload().optionsFile().get();
      JsonObject rest = decides.optionsFile(OPTIONS, file, notes);
      known.check(rest, "options_file", plan.written(), problems);
      String key = "deepspeed_config.deepspeed_config_file";
      NativeFile.beside(file, key, "--deepspeed_config_file", files, command, notes);
    }
    files.add(NativeFile.yaml(FILE, config(plan), own, FROM, plan));
    JsonObject others = NativeFile.only(plan.options(), key -> !key.equals(OPTIONS));
    if (plan.payload().entrypoint().isPresent()) {
      Entrypoint entrypoint = plan.payload().entrypoint().get();
      command.addAll(PythonBackend.program(plan, entrypoint, others));
      if (entrypoint.config()) {
        files.add(PythonBackend.config(plan));
      }
    } else {
      files.add(Trl.config(plan, others, false, problems, notes));
      files.add(Trl.resume());
      command.addAll(Trl.program(plan));
    }
    Problem.throwIfAny(problems);
    notes.addAll(DeepSpeed.shared(files));
    return new Launch(Launch.DISTRIBUTED, command, files).noting(notes);
  }

  private static List<String> launcher(Plan plan) {
    List<String> words =
        new ArrayList<>(
            List.of("accelerate", "launch", "--config_file", "${run_dir}/runner/" + FILE));
    int nodes = plan.allocation().nodes();
    if (plan.payload().optionsFile().isPresent()) {
      // Flags override the file, which may lack these keys or name another machine's values.
      words.addAll(List.of("--num_machines", "" + nodes));
      words.addAll(List.of("--num_processes", "" + nodes * plan.shape().ranksPerNode()));
      NativeOptions file = plan.payload().optionsFile().get();
      if (nodes > 1 && "DEEPSPEED".equals(file.value("distributed_type"))) {
        words.addAll(List.of("--deepspeed_multinode_launcher", "standard"));
      }
      if (nodes == 1 && file.value("main_process_port") != null) {
        words.addAll(List.of("--main_process_port", "${master_port}"));
      }
    }
    if (nodes > 1) {
      words.addAll(List.of("--machine_rank", "${node_rank}", "--main_process_ip"));
      words.addAll(List.of("${master_addr}", "--main_process_port", "${master_port}"));
    }
    return words;
  }

  /**
   * Returns the keys of Accelerate 1.15's ClusterConfig. {@code num_processes} counts the processes
   * of all nodes.
   */
  private static JsonObject config(Plan plan) {
    Training training = plan.training().written();
    int nodes = plan.allocation().nodes();
    boolean onGpus = plan.site().accelerator().equals("cuda");
    JsonObject config =
        new JsonObject()
            .with("compute_environment", "LOCAL_MACHINE")
            .with("distributed_type", type(training.strategy(), onGpus))
            .with("mixed_precision", training.precision())
            .with("num_machines", nodes)
            .with("num_processes", nodes * plan.shape().ranksPerNode())
            .with("same_network", true)
            .with("use_cpu", !onGpus)
            .with("main_training_function", "main");
    if (training.strategy().equals("fsdp")) {
      return config.with("fsdp_config", fsdp(training));
    }
    return training.strategy().startsWith("zero")
        ? config.with("deepspeed_config", deepspeed(training))
        : config;
  }

  private static String type(String strategy, boolean onGpus) {
    return switch (strategy) {
      case "fsdp" -> "FSDP";
      case "ddp" -> onGpus ? "MULTI_GPU" : "MULTI_CPU";
      default -> "DEEPSPEED";
    };
  }

  /** Returns the keys for FSDP2, because transformers 5.20 removes FSDP1. */
  private static JsonObject fsdp(Training training) {
    return new JsonObject()
        .with("fsdp_version", 2)
        .with("fsdp_reshard_after_forward", training.reshards())
        .with("fsdp_offload_params", !training.offload().equals("none"))
        .with("fsdp_state_dict_type", training.stateDictType())
        .with("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP")
        .with("fsdp_cpu_ram_efficient_loading", true);
  }

  /**
   * Returns the keys for DeepSpeed. srun starts it on each node, because DeepSpeed's own launcher
   * needs ssh.
   */
  private static JsonObject deepspeed(Training training) {
    boolean third = training.zeroStage() == 3;
    JsonObject config =
        new JsonObject()
            .with("zero_stage", training.zeroStage())
            .with("deepspeed_multinode_launcher", "standard")
            .withOptional("gradient_accumulation_steps", training.integer("grad_accumulation"))
            .with("offload_optimizer_device", training.offload())
            .with("offload_param_device", third ? training.offload() : "none")
            .with("zero3_init_flag", third);
    if (third) {
      config.with("zero3_save_16bit_model", true);
    }
    if (training.offload().equals("nvme")) {
      config.with("offload_optimizer_nvme_path", DeepSpeed.SWAP);
      config.with("offload_param_nvme_path", DeepSpeed.SWAP);
    }
    return config;
  }
}
