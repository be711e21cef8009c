package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.config.Training;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code backend: axolotl}: full, LoRA and QLoRA training with Axolotl, spread by FSDP2 or
 * DeepSpeed, and distillation with its KD plugin. The seeds' {@code kd_lambda} L weighs the
 * teacher's loss: {@code kd_alpha: L}, and the data's own {@code kd_ce_alpha: 1 - L}.
 */
public final class AxolotlBackend implements Backend {
  private static final String FILE = "axolotl.yaml";
  private static final String KD = "axolotl.integrations.kd.";
  private static final int SEQUENCE_LENGTH = 2048;

  @Override
  public String name() {
    return "axolotl";
  }

  @Override
  public List<String> shortNames() {
    return List.of("ax");
  }

  @Override
  public Launch launch(Plan plan) {
    List<Problem> problems = new ArrayList<>();
    ScalingMatrix.check(plan, name(), problems);
    RunnerOptions.of("axolotl").check(plan.options(), "options", plan.written(), problems);
    RunnerFile config = NativeFile.yaml(FILE, config(plan, problems), plan.options(), plan);
    Problem.throwIfAny(problems);
    List<String> command =
        new ArrayList<>(
            List.of(
                "axolotl", "train", "${run_dir}/runner/" + FILE, "--output-dir", "${checkpoints}"));
    boolean distributed = plan.ranksPerNode() > 0;
    if (distributed) {
      List<String> torchrun = Torchrun.words(plan);
      command.addAll(List.of("--launcher", "torchrun", "--"));
      command.addAll(torchrun.subList(1, torchrun.size()));
    } else {
      command.addAll(List.of("--launcher", "python"));
    }
    return new Launch(distributed ? Launch.DISTRIBUTED : Launch.TASK, command, List.of(config));
  }

  private static JsonObject config(Plan plan, List<Problem> problems) {
    Training training = plan.training();
    JsonObject config =
        new JsonObject()
            .with("base_model", Trl.required(plan, "model_name", problems))
            .with("datasets", List.of(dataset(plan, problems)))
            .with("sequence_len", training.integer("max_length").orElse(SEQUENCE_LENGTH))
            .withOptional("learning_rate", training.decimal("lr"))
            .withOptional("micro_batch_size", training.integer("batch_size"))
            .withOptional("gradient_accumulation_steps", training.integer("grad_accumulation"))
            .withOptional("num_epochs", training.decimal("epochs"))
            .withOptional("save_steps", training.integer("save_steps"))
            .withOptional("seed", training.integer("seed"))
            .with("bf16", training.precision().equals("bf16"))
            .with("fp16", training.precision().equals("fp16"))
            .with("optimizer", "adamw_torch_fused")
            .with("lr_scheduler", "cosine")
            .with("ddp_find_unused_parameters", false)
            .with("ddp_timeout", Torchrun.TIMEOUT_SECONDS)
            .with("auto_resume_from_checkpoints", true);
    if (training.has("eval_steps")) {
      config.withOptional("eval_steps", training.integer("eval_steps"));
      config.with("val_set_size", new BigDecimal("0.05"));
    }
    adapter(config, training);
    spread(config, training);
    distillation(config, training);
    return config;
  }

  private static JsonObject dataset(Plan plan, List<Problem> problems) {
    String path = Trl.required(plan, "dataset_path", problems);
    boolean distils = plan.training().flag("use_kd");
    Optional<String> loader = Dataset.loader(path);
    JsonObject dataset =
        new JsonObject()
            .with("path", path)
            .withOptional("ds_type", loader)
            .with("type", distils ? KD + "chat_template" : "chat_template");
    return distils ? dataset.with("logprobs_field", "logprobs") : dataset;
  }

  private static void adapter(JsonObject config, Training training) {
    if (training.adapter().equals("none")) {
      return;
    }
    config
        .with("adapter", training.adapter())
        .with("load_in_4bit", training.adapter().equals("qlora"))
        .with("lora_r", training.integer("lora_r").orElse(16))
        .with("lora_alpha", training.integer("lora_alpha").orElse(32))
        .with("lora_dropout", training.decimal("lora_dropout").orElse(new BigDecimal("0.05")))
        .with("lora_target_linear", true);
  }

  private static void spread(JsonObject config, Training training) {
    String strategy = training.strategy();
    if (strategy.equals("fsdp")) {
      config
          .with("fsdp_version", 2)
          .with(
              "fsdp_config",
              new JsonObject()
                  .with("reshard_after_forward", training.reshards())
                  .with("offload_params", !training.offload().equals("none"))
                  .with("state_dict_type", training.stateDictType())
                  .with("auto_wrap_policy", "TRANSFORMER_BASED_WRAP")
                  .with("cpu_ram_efficient_loading", true));
    } else if (strategy.startsWith("zero")) {
      config.with("deepspeed", DeepSpeed.config(training));
    }
  }

  private static void distillation(JsonObject config, Training training) {
    if (!training.flag("use_kd")) {
      return;
    }
    BigDecimal weight = training.decimal("kd_lambda").orElse(BigDecimal.ONE);
    config
        .with("plugins", List.of(KD + "KDPlugin"))
        .with("kd_trainer", true)
        .withOptional("kd_temperature", training.decimal("kd_temperature"))
        .with("kd_alpha", weight)
        .with("kd_ce_alpha", BigDecimal.ONE.subtract(weight));
  }
}
