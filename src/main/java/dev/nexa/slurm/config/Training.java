package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.section;

import dev.nexa.slurm.config.Shape.KnownKey;
import dev.nexa.slurm.config.Shape.Section;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The keys that training runners share. The seeds' keep their names; accelerate's four ( {@code
 * mixed_precision}, {@code fsdp}, {@code fsdp_offload_params}, {@code fsdp_state_dict_type}) are
 * read as the general ones.
 *
 * @param given those that were written, in the order of the table
 */
public record Training(Map<String, Object> given) {
  static final Section KEYS =
      section(
          optional(
              "model_name", ValueType.TEXT, "The model to train or serve; the manifest's `model`."),
          optional("dataset_path", ValueType.PATH, "Where the training data lies."),
          optional("lr", ValueType.DECIMAL_NUMBER, "Learning rate."),
          optional("batch_size", ValueType.integer(1, 1_000_000), "Examples per device and step."),
          optional(
              "grad_accumulation",
              ValueType.integer(1, 1_000_000),
              "Steps whose gradients are added up."),
          optional("epochs", ValueType.DECIMAL_NUMBER, "Passes over the data."),
          optional("use_kd", ValueType.BOOLEAN, "Whether to distil from a teacher."),
          optional(
              "kd_temperature",
              ValueType.DECIMAL_NUMBER,
              "Softmax temperature of the distillation loss."),
          optional("kd_lambda", ValueType.DECIMAL_NUMBER, "Weight of the distillation loss."),
          optional("save_steps", ValueType.integer(1, 1_000_000_000), "Steps between checkpoints."),
          optional("eval_steps", ValueType.integer(1, 1_000_000_000), "Steps between evaluations."),
          optional("fp16", ValueType.BOOLEAN, "Mixed precision in half floats."),
          optional("bf16", ValueType.BOOLEAN, "Mixed precision in bfloat16."),
          optional(
              "model_size",
              ValueType.text(
                  "a parameter count such as 350M or 7B", "[0-9]{1,6}(\\.[0-9]{1,6})?[MBTmbt]"),
              "The model's parameters; read off model_name (`llama-70b`) where not given."),
          optional("max_length", ValueType.integer(1, 100_000_000), "Tokens of one example."),
          optional("seed", ValueType.integer(0, 2_000_000_000), "Seed of every random choice."),
          optional(
              "teacher_model", ValueType.TEXT, "The model to distil from, where use_kd is true."),
          optional(
              "adapter",
              ValueType.choice("none", "lora", "qlora"),
              "Trains low-rank adapters instead of all weights; `qlora` on a 4-bit base."),
          optional("lora_r", ValueType.integer(1, 65_536), "Rank of the adapters."),
          optional("lora_alpha", ValueType.integer(1, 1_000_000), "Scale of the adapters."),
          optional("lora_dropout", ValueType.DECIMAL_NUMBER, "Dropout inside the adapters."),
          optional(
              "strategy",
              ValueType.choice("ddp", "fsdp", "zero1", "zero2", "zero3"),
              "How the model is spread over the ranks; `ddp` keeps a whole copy on each."),
          optional(
              "offload",
              ValueType.choice("none", "cpu", "nvme"),
              "Where fsdp and zero3 put what the GPUs can't hold; `nvme` is the scratch tier."),
          optional(
              "mixed_precision",
              ValueType.choice("no", "fp16", "bf16"),
              "Accelerate's name for fp16 and bf16."),
          optional(
              "fsdp",
              ValueType.choice("full_shard", "shard_grad_op"),
              "Accelerate's name for `strategy: fsdp`; `shard_grad_op` keeps the weights whole."),
          optional(
              "fsdp_offload_params", ValueType.BOOLEAN, "Accelerate's name for `offload: cpu`."),
          optional(
              "fsdp_state_dict_type",
              ValueType.choice("FULL_STATE_DICT", "SHARDED_STATE_DICT"),
              "How fsdp writes checkpoints."));

  static Training from(Values values) {
    Map<String, Object> given = new LinkedHashMap<>();
    for (KnownKey key : KEYS.keys()) {
      if (values.has(key.name())) {
        given.put(key.name(), values.required(key.name(), Object.class));
      }
    }
    return new Training(given);
  }

  /** What cannot be meant together. */
  static void check(Values values, List<Problem> problems) {
    Training training = from(values);
    if (training.flag("fp16") && training.flag("bf16")) {
      problems.add(values.problem("bf16", "fp16 is true too; a run has one precision"));
    }
    String mixed = training.text("mixed_precision").orElse(training.precision());
    if (!mixed.equals(training.precision())) {
      problems.add(
          values.problem(
              "mixed_precision", "is " + mixed + ", but " + training.precision() + " is true"));
    }
    String strategy = training.text("strategy").orElse("fsdp");
    if (training.has("fsdp") && !strategy.equals("fsdp")) {
      problems.add(values.problem("fsdp", "needs strategy: fsdp, or no strategy at all"));
    }
    if (!training.offload().equals("none")
        && !List.of("fsdp", "zero3").contains(training.strategy())) {
      problems.add(
          values.problem(
              training.has("offload") ? "offload" : "fsdp_offload_params",
              "needs strategy: fsdp or zero3, which spread the weights"));
    }
    if (training.offload().equals("nvme") && !training.strategy().equals("zero3")) {
      problems.add(values.problem("offload", "nvme needs strategy: zero3; fsdp offloads to cpu"));
    }
    for (String key : List.of("lora_r", "lora_alpha", "lora_dropout")) {
      if (training.has(key) && training.adapter().equals("none")) {
        problems.add(values.problem(key, "needs adapter: lora or qlora"));
      }
    }
  }

  public boolean has(String key) {
    return given.containsKey(key);
  }

  public Optional<String> text(String key) {
    return Optional.ofNullable((String) given.get(key));
  }

  public Optional<Integer> integer(String key) {
    return Optional.ofNullable((Integer) given.get(key));
  }

  public Optional<BigDecimal> decimal(String key) {
    return Optional.ofNullable((BigDecimal) given.get(key));
  }

  /** Whether it is written and true. */
  public boolean flag(String key) {
    return Boolean.TRUE.equals(given.get(key));
  }

  /** {@code fp16}, {@code bf16} or {@code no}. */
  public String precision() {
    if (flag("fp16")) {
      return "fp16";
    }
    return flag("bf16") ? "bf16" : text("mixed_precision").orElse("no");
  }

  /** {@code ddp}, {@code fsdp}, {@code zero1}, {@code zero2} or {@code zero3}. */
  public String strategy() {
    return text("strategy").orElse(has("fsdp") ? "fsdp" : "ddp");
  }

  /** Of a {@code zero…} strategy: DeepSpeed's stage. */
  public int zeroStage() {
    return Integer.parseInt(strategy().substring("zero".length()));
  }

  /** Of {@code fsdp}: whether the weights are spread again after the forward pass. */
  public boolean reshards() {
    return !text("fsdp").orElse("full_shard").equals("shard_grad_op");
  }

  /** Of {@code fsdp}: how a checkpoint is written. */
  public String stateDictType() {
    return text("fsdp_state_dict_type").orElse("SHARDED_STATE_DICT");
  }

  /** {@code none}, {@code lora} or {@code qlora}. */
  public String adapter() {
    return text("adapter").orElse("none");
  }

  /** {@code none}, {@code cpu} or {@code nvme}. */
  public String offload() {
    return text("offload").orElse(flag("fsdp_offload_params") ? "cpu" : "none");
  }

  /** Whether a model is spoken of. */
  public boolean namesModel() {
    return has("model_name") || has("model_size");
  }

  /** The teacher's parameters, read off its name; empty where it does not tell. */
  public Optional<Long> teacherParameters() {
    return ModelSize.ofName(text("teacher_model").orElse(""));
  }

  /** The model's parameters, as written or read off its name; empty where neither tells. */
  public Optional<Long> parameters() {
    return ModelSize.of(text("model_size"), text("model_name").orElse(""));
  }
}
