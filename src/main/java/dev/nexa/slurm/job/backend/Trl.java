package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.PackedFile;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.job.plan.TrlScript;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs TRL's own scripts: supervised fine-tuning, or distillation if {@code use_kd} is true. Checks
 * all options against the release's list, because TRL silently ignores unknown keys.
 */
final class Trl {
  private static final String FILE = "trl.yaml";
  private static final String RESUME = "trl_resume.py";

  /**
   * For the shared keys, the file's keys that are made from them. The other keys are our defaults.
   */
  private static final Map<String, String> FROM =
      Map.ofEntries(
          Map.entry("model_name", "model_name_or_path"),
          Map.entry("dataset_path", "datasets dataset_name"),
          Map.entry("lr", "learning_rate"),
          Map.entry("batch_size", "per_device_train_batch_size"),
          Map.entry("grad_accumulation", "gradient_accumulation_steps"),
          Map.entry("epochs", "num_train_epochs"),
          Map.entry("max_length", "max_length max_completion_length"),
          Map.entry("seed", "seed"),
          Map.entry(Training.PRECISION, "bf16 fp16"),
          Map.entry("save_steps", "save_strategy save_steps"),
          Map.entry("eval_steps", "eval_strategy eval_steps"),
          Map.entry(
              "adapter",
              String.join(
                  " ",
                  "use_peft load_in_4bit bnb_4bit_quant_type",
                  TrlScript.DTYPE,
                  TrlScript.TARGETS)),
          Map.entry("lora_r", "lora_r"),
          Map.entry("lora_alpha", "lora_alpha"),
          Map.entry("lora_dropout", "lora_dropout"),
          Map.entry("plan", "use_cpu"),
          Map.entry("teacher_model", "teacher_model_name_or_path " + TrlScript.TEACHER),
          Map.entry("kd_temperature", "temperature"));

  private Trl() {}

  /**
   * Returns the program and its arguments. {@link #RESUME} runs TRL's script from the newest
   * checkpoint.
   */
  static List<String> program(Plan plan) {
    List<String> words = new ArrayList<>(List.of("${run_dir}/runner/" + RESUME));
    if (plan.supervision().warnBeforeEnd().isPresent()) {
      words.add("--save-on-term");
    }
    words.add(plan.training().flag("use_kd") ? "distillation" : "sft");
    words.addAll(List.of("--config", "${run_dir}/runner/" + FILE));
    words.addAll(List.of("--output_dir", "${checkpoints}"));
    return words;
  }

  /**
   * Returns the program that starts TRL's scripts. The scripts themselves always begin at step 0.
   */
  static RunnerFile resume() {
    return new RunnerFile(RESUME, PackedFile.bytes(Trl.class, RESUME));
  }

  /**
   * Returns TRL's config: the shared keys with the user's options over them.
   *
   * @param written the user's options for TRL
   * @param ownFile whether the config's options file belongs to TRL
   */
  static RunnerFile config(
      Plan plan, JsonObject written, boolean ownFile, List<Problem> problems, List<String> notes) {
    Training training = plan.training().written();
    boolean distils = training.flag("use_kd");
    RunnerOptions known = RunnerOptions.of(distils ? "trl-distill" : "trl-sft");
    PlanDecides decides = new PlanDecides(plan, problems);
    JsonObject options = decides.options("trl", written, "options");
    known.check(options, "options", plan.written(), problems);
    if (ownFile && plan.payload().optionsFile().isPresent()) {
      JsonObject rest = decides.optionsFile("trl", plan.payload().optionsFile().get(), notes);
      known.check(rest, "options_file", plan.written(), problems);
    }
    required(plan, "model_name", problems);
    required(plan, "dataset_path", problems);
    JsonObject config =
        new JsonObject().withOptional("model_name_or_path", training.text("model_name"));
    if (training.has("dataset_path")) {
      dataset(config, training.text("dataset_path").orElseThrow());
    }
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
    steps(config, plan, ownFile, notes);
    adapter(config, training);
    TrlScript.of(plan).ifPresent(script -> config.with(script.frozenModel()));
    if (plan.shape().ranksPerNode() > 0) {
      config
          .with("ddp_backend", plan.site().accelerator().equals("cuda") ? "nccl" : "gloo")
          .with("ddp_find_unused_parameters", false)
          .with("ddp_timeout", Torchrun.TIMEOUT_SECONDS);
    }
    if (!plan.site().accelerator().equals("cuda")) {
      config.with("use_cpu", true);
    }
    if (distils) {
      distillation(config, plan, problems);
    }
    return ownFile
        ? NativeFile.yaml(FILE, config, options, FROM, plan)
        : NativeFile.yaml(FILE, config, options, plan);
  }

  /** Adds a problem if the config asks for distillation, for a backend that does not train. */
  static void refuseDistilling(Plan plan, List<Problem> problems) {
    if (plan.training().flag("use_kd")) {
      String message =
          "backend " + plan.backend() + " can't distil; axolotl, hf and accelerate can";
      problems.add(plan.written().problem("use_kd", message));
    }
  }

  /**
   * Returns a training key's text. If the key is missing, adds a problem and returns an empty text.
   */
  static String required(Plan plan, String key, List<Problem> problems) {
    Optional<String> value = plan.training().text(key);
    if (value.isEmpty()) {
      problems.add(plan.written().problem(key, "missing; backend " + plan.backend() + " needs it"));
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

  /**
   * Adds the keys about steps. A single data file has no test split, so evaluation begins only if
   * the runner's own options ask for it.
   */
  private static void steps(JsonObject config, Plan plan, boolean ownFile, List<String> notes) {
    Training training = plan.training().written();
    if (training.has("save_steps")) {
      config
          .with("save_strategy", "steps")
          .withOptional("save_steps", training.integer("save_steps"));
    }
    if (!training.has("eval_steps")) {
      return;
    }
    boolean evaluates = false;
    for (String key : List.of("dataset_test_split", "eval_strategy")) {
      evaluates |= ownFile ? NativeFile.sets(plan, key) : plan.options().members().containsKey(key);
    }
    if (evaluates) {
      config
          .with("eval_strategy", "steps")
          .withOptional("eval_steps", training.integer("eval_steps"));
    } else {
      notes.add(
          "eval_steps: nothing is evaluated, because the config names no data for it; write"
              + " options.dataset_test_split, such as test");
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

  /**
   * Adds the keys for distillation. TRL trains on the teacher's loss alone, so it has no
   * counterpart of {@code kd_lambda}.
   */
  private static void distillation(JsonObject config, Plan plan, List<Problem> problems) {
    Training training = plan.training().written();
    if (training.text("teacher_model").isEmpty()) {
      String message =
          ("missing; backend %s needs it to distil; or write backend: axolotl, which reads the"
                  + " teacher's log-probabilities from the dataset")
              .formatted(plan.backend());
      problems.add(plan.written().problem("teacher_model", message));
    }
    config
        .withOptional("teacher_model_name_or_path", training.text("teacher_model"))
        .withOptional("temperature", training.decimal("kd_temperature"));
    if (training.has("kd_lambda")) {
      String message =
          "TRL's distillation has no weight between the losses; leave it out, or write"
              + " backend: axolotl";
      problems.add(plan.written().problem("kd_lambda", message));
    }
  }
}
