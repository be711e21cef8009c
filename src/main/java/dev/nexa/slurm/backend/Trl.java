package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.config.Training;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.List;
import java.util.Optional;

/**
 * TRL's own scripts: supervised fine-tuning, and distillation where {@code use_kd}. Run as modules,
 * which drop unknown keys in silence: all are checked against the release's list.
 */
final class Trl {
  private static final String FILE = "trl.yaml";

  private Trl() {}

  /** The words that a launcher starts. */
  static List<String> program(Plan plan) {
    String script = plan.training().flag("use_kd") ? "distillation" : "sft";
    return List.of(
        "-m",
        "trl.scripts." + script,
        "--config",
        "${run_dir}/runner/" + FILE,
        "--output_dir",
        "${checkpoints}");
  }

  /** Its config, with the user's options over what the shared keys become. */
  static RunnerFile config(Plan plan, JsonObject options, List<Problem> problems) {
    Training training = plan.training();
    boolean distils = training.flag("use_kd");
    RunnerOptions known = RunnerOptions.of(distils ? "trl-distill" : "trl-sft");
    known.check(options, "options", plan.written(), problems);
    JsonObject config = new JsonObject();
    config.with("model_name_or_path", required(plan, "model_name", problems));
    dataset(config, required(plan, "dataset_path", problems));
    config
        .withOptional("learning_rate", training.decimal("lr"))
        .withOptional("per_device_train_batch_size", training.integer("batch_size"))
        .withOptional("gradient_accumulation_steps", training.integer("grad_accumulation"))
        .withOptional("num_train_epochs", training.decimal("epochs"))
        .withOptional(
            distils ? "max_completion_length" : "max_length", training.integer("max_length"))
        .withOptional("seed", training.integer("seed"))
        .with("bf16", training.precision().equals("bf16"))
        .with("fp16", training.precision().equals("fp16"));
    steps(config, plan);
    adapter(config, training);
    if (plan.ranksPerNode() > 0) {
      config
          .with("ddp_backend", plan.accelerator().equals("cuda") ? "nccl" : "gloo")
          .with("ddp_find_unused_parameters", false)
          .with("ddp_timeout", Torchrun.TIMEOUT_SECONDS);
    }
    if (!plan.accelerator().equals("cuda")) {
      config.with("use_cpu", true);
    }
    if (distils) {
      distillation(config, plan, problems);
    }
    return NativeFile.yaml(FILE, config, options, plan);
  }

  /** For a backend that trains nothing. */
  static void refuseDistilling(Plan plan, List<Problem> problems) {
    if (plan.training().flag("use_kd")) {
      String message =
          "backend " + plan.backend() + " can't distil; axolotl, hf and accelerate can";
      problems.add(plan.written().problem("use_kd", message));
    }
  }

  static String required(Plan plan, String key, List<Problem> problems) {
    Optional<String> value = plan.training().text(key);
    if (value.isEmpty()) {
      String message = "missing; backend " + plan.backend() + " needs it";
      problems.add(plan.written().problem(key, message));
    }
    return value.orElse("");
  }

  private static void dataset(JsonObject config, String path) {
    Optional<String> loader = Dataset.loader(path);
    if (loader.isPresent()) {
      JsonObject file = new JsonObject().with("path", loader.get()).with("data_files", path);
      config.with("datasets", List.of(file));
    } else {
      config.with("dataset_name", path);
    }
  }

  /** A single file has no split to evaluate on: then eval_steps waits for one to be named. */
  private static void steps(JsonObject config, Plan plan) {
    Training training = plan.training();
    if (training.has("save_steps")) {
      config
          .with("save_strategy", "steps")
          .withOptional("save_steps", training.integer("save_steps"));
    }
    if (training.has("eval_steps") && plan.options().members().containsKey("dataset_test_split")) {
      config
          .with("eval_strategy", "steps")
          .withOptional("eval_steps", training.integer("eval_steps"));
    }
  }

  private static void adapter(JsonObject config, Training training) {
    if (training.adapter().equals("none")) {
      return;
    }
    config
        .with("use_peft", true)
        .withOptional("lora_r", training.integer("lora_r"))
        .withOptional("lora_alpha", training.integer("lora_alpha"))
        .withOptional("lora_dropout", training.decimal("lora_dropout"));
    if (training.adapter().equals("qlora")) {
      config.with("load_in_4bit", true).with("bnb_4bit_quant_type", "nf4");
    }
  }

  /** TRL has no weight between two losses, as kd_lambda is: it trains on the teacher's alone. */
  private static void distillation(JsonObject config, Plan plan, List<Problem> problems) {
    Training training = plan.training();
    config
        .with("teacher_model_name_or_path", required(plan, "teacher_model", problems))
        .withOptional("temperature", training.decimal("kd_temperature"));
    if (training.has("kd_lambda")) {
      problems.add(
          plan.written()
              .problem(
                  "kd_lambda",
                  "TRL's distillation has no weight between the losses; leave it out, or write"
                      + " backend: axolotl"));
    }
  }
}
