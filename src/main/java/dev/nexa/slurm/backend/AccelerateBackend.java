package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.config.Training;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code backend: accelerate}: a config file of Accelerate's for FSDP or DeepSpeed, and under it
 * the user's entrypoint, or TRL's trainer where there is none. {@code options.accelerate} goes into
 * that file, other options to TRL.
 */
public final class AccelerateBackend implements Backend {
  private static final String FILE = "accelerate.yaml";
  private static final String OPTIONS = "accelerate";

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
    if (plan.ranksPerNode() == 0) {
      problems.add(
          plan.written()
              .problem("resources.gpus_per_node", "accelerate starts ranks; give GPUs or nodes"));
    }
    JsonObject own = plan.options().optionalObject(OPTIONS).orElseGet(JsonObject::new);
    RunnerOptions.of("accelerate").check(own, "options." + OPTIONS, plan.written(), problems);
    List<RunnerFile> files = new ArrayList<>();
    files.add(NativeFile.yaml(FILE, config(plan), own, plan));
    List<String> command = new ArrayList<>(launcher(plan));
    if (plan.entrypoint().isPresent()) {
      command.addAll(PythonBackend.program(plan.entrypoint().get(), others(plan.options())));
      if (plan.entrypoint().get().config()) {
        files.add(PythonBackend.config(plan));
      }
    } else {
      files.add(Trl.config(plan, others(plan.options()), problems));
      command.addAll(Trl.program(plan));
    }
    Problem.throwIfAny(problems);
    return new Launch(Launch.DISTRIBUTED, command, files);
  }

  private static JsonObject others(JsonObject options) {
    JsonObject others = new JsonObject();
    for (Map.Entry<String, @Nullable Object> option : options.members().entrySet()) {
      if (!option.getKey().equals(OPTIONS)) {
        others.with(option.getKey(), option.getValue());
      }
    }
    return others;
  }

  private static List<String> launcher(Plan plan) {
    List<String> words =
        new ArrayList<>(
            List.of("accelerate", "launch", "--config_file", "${run_dir}/runner/" + FILE));
    if (plan.allocation().nodes() > 1) {
      words.addAll(
          List.of(
              "--machine_rank", "${node_rank}",
              "--main_process_ip", "${master_addr}",
              "--main_process_port", "${master_port}"));
    }
    return words;
  }

  /** ClusterConfig of accelerate 1.15; the number of processes is that of all nodes together. */
  private static JsonObject config(Plan plan) {
    Training training = plan.training();
    int nodes = plan.allocation().nodes();
    boolean onGpus = plan.accelerator().equals("cuda");
    JsonObject config =
        new JsonObject()
            .with("compute_environment", "LOCAL_MACHINE")
            .with("distributed_type", type(training.strategy(), onGpus))
            .with("mixed_precision", training.precision())
            .with("num_machines", nodes)
            .with("num_processes", nodes * plan.ranksPerNode())
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

  /** FSDP2: transformers 5.20 removes the first. */
  private static JsonObject fsdp(Training training) {
    return new JsonObject()
        .with("fsdp_version", 2)
        .with("fsdp_reshard_after_forward", training.reshards())
        .with("fsdp_offload_params", !training.offload().equals("none"))
        .with("fsdp_state_dict_type", training.stateDictType())
        .with("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP")
        .with("fsdp_cpu_ram_efficient_loading", true);
  }

  /** Started on each node by srun: DeepSpeed's own launcher would want ssh. */
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
      config.with("offload_optimizer_nvme_path", "${scratch}");
      config.with("offload_param_nvme_path", "${scratch}");
    }
    return config;
  }
}
