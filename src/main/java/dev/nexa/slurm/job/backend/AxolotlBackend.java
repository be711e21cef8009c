package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.NativeOptions;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code backend: axolotl}: trains with Axolotl, fully or with LoRA or QLoRA, under FSDP2 or
 * DeepSpeed. Distils with Axolotl's KD plugin.
 *
 * <p>{@code kd_lambda} L is the weight of the teacher's loss: it becomes {@code kd_alpha: L} and
 * {@code kd_ce_alpha: 1 - L}, the weight of the data's own loss.
 */
public final class AxolotlBackend implements Backend {
  private static final String FILE = "axolotl.yaml";
  private static final String KD = "axolotl.integrations.kd.";
  private static final int SEQUENCE_LENGTH = 2048;
  private static final String SPREAD = "strategy fsdp fsdp_state_dict_type offload";

  /**
   * For the shared keys, the file's keys that are made from them. The other keys are our defaults.
   */
  private static final Map<String, String> FROM =
      Map.ofEntries(
          Map.entry("model_name", "base_model"),
          Map.entry("dataset_path", "datasets"),
          Map.entry("max_length", "sequence_len"),
          Map.entry("lr", "learning_rate"),
          Map.entry("batch_size", "micro_batch_size"),
          Map.entry("grad_accumulation", "gradient_accumulation_steps"),
          Map.entry("epochs", "num_epochs"),
          Map.entry("save_steps", "save_steps"),
          Map.entry("seed", "seed"),
          Map.entry(Training.PRECISION, "bf16 fp16"),
          Map.entry("plan", "auto_resume_from_checkpoints"),
          Map.entry("eval_steps", "eval_steps val_set_size"),
          Map.entry("adapter", "adapter load_in_4bit"),
          Map.entry("lora_r", "lora_r"),
          Map.entry("lora_alpha", "lora_alpha"),
          Map.entry("lora_dropout", "lora_dropout"),
          Map.entry(SPREAD, "fsdp_version fsdp_config deepspeed"),
          Map.entry("use_kd", "plugins kd_trainer kd_alpha kd_ce_alpha"),
          Map.entry("kd_temperature", "kd_temperature"));

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
    PlanDecides decides = new PlanDecides(plan, problems);
    JsonObject options = decides.options("axolotl", plan.options(), "options");
    RunnerOptions known = RunnerOptions.of("axolotl");
    known.check(options, "options", plan.written(), problems);
    List<String> notes = known.deprecated(options, "options.");
    List<RunnerFile> files = new ArrayList<>();
    List<String> command =
        new ArrayList<>(
            List.of(
                "axolotl", "train", "${run_dir}/runner/" + FILE, "--output-dir", "${checkpoints}"));
    if (plan.payload().optionsFile().isPresent()) {
      NativeOptions file = plan.payload().optionsFile().get();
      JsonObject rest = decides.optionsFile("axolotl", file, notes);
      known.check(rest, "options_file", plan.written(), problems);
      notes.addAll(known.deprecated(rest, file.name() + ": "));
      NativeFile.beside(file, "deepspeed", "--deepspeed", files, command, notes);
    }
    files.add(NativeFile.yaml(FILE, config(plan, problems, notes), options, FROM, plan));
    Problem.throwIfAny(problems);
    notes.addAll(DeepSpeed.shared(files));
    boolean distributed = plan.shape().ranksPerNode() > 0;
    if (distributed) {
      List<String> torchrun = Torchrun.words(plan);
      command.addAll(List.of("--launcher", "torchrun", "--"));
      command.addAll(torchrun.subList(1, torchrun.size()));
    } else {
      command.addAll(List.of("--launcher", "python"));
    }
    return new Launch(distributed ? Launch.DISTRIBUTED : Launch.TASK, command, files).noting(notes);
  }

  private static JsonObject config(Plan plan, List<Problem> problems, List<String> notes) {
    Training training = plan.training().written();
    Trl.required(plan, "model_name", problems);
    if (plan.payload().optionsFile().isEmpty()) {
      Trl.required(plan, "dataset_path", problems); // Options files name data in many ways.
    }
    JsonObject config = new JsonObject().withOptional("base_model", training.text("model_name"));
    if (training.has("dataset_path")) {
      config.with("datasets", List.of(dataset(training)));
    }
    config
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
      if (!NativeFile.sets(plan, "val_set_size") && !NativeFile.sets(plan, "test_datasets")) {
        config.with("val_set_size", new BigDecimal("0.05"));
      }
    }
    adapter(config, training);
    spread(config, training);
    distillation(config, plan, problems, notes);
    return config;
  }

  private static JsonObject dataset(Training training) {
    String path = training.text("dataset_path").orElseThrow();
    boolean distils = training.flag("use_kd");
    JsonObject dataset =
        new JsonObject()
            .with("path", path)
            .withOptional("ds_type", Dataset.loader(path))
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

  /** The plugin has no default for its temperature, and takes only weights from 0 to 1. */
  private static void distillation(
      JsonObject config, Plan plan, List<Problem> problems, List<String> notes) {
    Training training = plan.training().written();
    if (!training.flag("use_kd")) {
      return;
    }
    if (training.has("teacher_model")) {
      notes.add(
          "teacher_model: axolotl loads no teacher; it reads the teacher's log-probabilities from the"
              + " dataset's column `logprobs`");
    }
    BigDecimal weight = training.decimal("kd_lambda").orElse(BigDecimal.ONE);
    if (weight.signum() < 0 || weight.compareTo(BigDecimal.ONE) > 0) {
      String message =
          "is the weight of the teacher's loss beside the data's own; expected a number from 0 to"
              + " 1, got ";
      problems.add(plan.written().problem("kd_lambda", message + weight.toPlainString()));
    }
    BigDecimal temperature = training.decimal("kd_temperature").orElse(BigDecimal.ONE);
    if (temperature.signum() <= 0) {
      String message = "expected a number above 0, got " + temperature.toPlainString();
      problems.add(plan.written().problem("kd_temperature", message));
    }
    config
        .with("plugins", List.of(KD + "KDPlugin"))
        .with("kd_trainer", true)
        .with("kd_temperature", temperature)
        .with("kd_alpha", weight)
        .with("kd_ce_alpha", BigDecimal.ONE.subtract(weight));
  }
}
