package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.shared.ModelSize;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The training keys that all runners share.
 *
 * <p>Accelerate's {@code mixed_precision}, {@code fsdp}, {@code fsdp_offload_params} and {@code
 * fsdp_state_dict_type} are other names for the general keys.
 *
 * @param given the keys that have a value: those that the config sets, in the order of {@link
 *     #KEYS}, then those that the runner's own options set
 * @param fromOptions the keys of {@code given} that only the runner's own options set
 */
public record Training(Map<String, Object> given, Set<String> fromOptions) {
  /** The keys that set the precision, separated by blanks. */
  public static final String PRECISION = "bf16 fp16 mixed_precision";

  public static final Section KEYS =
      section(
          optional(
              "model_name",
              ValueType.TEXT,
              "The model to train or serve; also for reports, where it is `model`."),
          optional(
              "dataset_path",
              ValueType.PATH,
              "Where the training data is; also for reports, where its last part is the dataset."),
          optional("lr", ValueType.DECIMAL_NUMBER, "Learning rate."),
          optional("batch_size", ValueType.integer(1, 1_000_000), "Examples per device and step."),
          optional(
              "grad_accumulation",
              ValueType.integer(1, 1_000_000),
              "The number of steps whose gradients are added up."),
          optional("epochs", ValueType.DECIMAL_NUMBER, "The number of passes over the data."),
          optional("use_kd", ValueType.BOOLEAN, "Whether to distil from a teacher."),
          optional(
              "kd_temperature",
              ValueType.DECIMAL_NUMBER,
              "Softmax temperature of the distillation loss."),
          optional("kd_lambda", ValueType.DECIMAL_NUMBER, "Weight of the distillation loss."),
          optional("save_steps", ValueType.integer(1, 1_000_000_000), "Steps between checkpoints."),
          optional("eval_steps", ValueType.integer(1, 1_000_000_000), "Steps between evaluations."),
          optional("fp16", ValueType.BOOLEAN, "Whether to train in mixed precision with fp16."),
          optional("bf16", ValueType.BOOLEAN, "Whether to train in mixed precision with bfloat16."),
          optional(
              "model_size",
              ValueType.text("a parameter count such as 350M, 7B or 8x7B", ModelSize.FORM),
              "The number of the model's parameters, for the rules for large models, for estimates and for reports. Default: read from model_name (`llama-70b`), or from the"
                  + " config.json of a model in a folder."),
          optional("max_length", ValueType.integer(1, 100_000_000), "Tokens of one example."),
          optional("seed", ValueType.integer(0, 2_000_000_000), "Seed of every random choice."),
          optional("teacher_model", ValueType.TEXT, "The model to distil from, if use_kd is true."),
          optional(
              "adapter",
              ValueType.choice("none", "lora", "qlora"),
              "Trains low-rank adapters instead of all weights. `qlora` trains them on a 4-bit base model."),
          optional("lora_r", ValueType.integer(1, 65_536), "Rank of the adapters."),
          optional("lora_alpha", ValueType.integer(1, 1_000_000), "Scale of the adapters."),
          optional("lora_dropout", ValueType.DECIMAL_NUMBER, "Dropout inside the adapters."),
          optional(
              "strategy",
              ValueType.choice("ddp", "fsdp", "zero1", "zero2", "zero3"),
              "How the model is spread over the ranks. `ddp` keeps a whole copy on each rank."),
          optional(
              "offload",
              ValueType.choice("none", "cpu", "nvme"),
              "Where fsdp and zero3 put data that does not fit into the GPUs. `nvme` is a folder of the task on the scratch tier, which its end removes."),
          optional(
              "mixed_precision",
              ValueType.choice("no", "fp16", "bf16"),
              "Accelerate's name for fp16 and bf16."),
          optional(
              "fsdp",
              ValueType.choice("full_shard", "shard_grad_op"),
              "Accelerate's name for `strategy: fsdp`. `shard_grad_op` keeps the weights whole."),
          optional(
              "fsdp_offload_params", ValueType.BOOLEAN, "Accelerate's name for `offload: cpu`."),
          optional(
              "fsdp_state_dict_type",
              ValueType.choice("FULL_STATE_DICT", "SHARDED_STATE_DICT"),
              "How fsdp writes checkpoints."));

  /** Creates training keys that the config itself sets. */
  public Training(Map<String, Object> given) {
    this(given, Set.of());
  }

  /** Returns the keys that the config itself sets. The runner reads its own options unchanged. */
  public Training written() {
    if (fromOptions.isEmpty()) {
      return this;
    }
    Map<String, Object> written = new LinkedHashMap<>(given);
    written.keySet().removeAll(fromOptions);
    return new Training(written);
  }

  /** Returns a copy with the keys that a point of a sweep sets. */
  public Training with(Map<String, Object> point) {
    Map<String, Object> all = new LinkedHashMap<>(given);
    all.putAll(point);
    Set<String> read = new HashSet<>(fromOptions);
    read.removeAll(point.keySet());
    return new Training(all, read);
  }

  static Training from(Values values) {
    Map<String, Object> given = new LinkedHashMap<>();
    for (KnownKey key : KEYS.keys()) {
      if (values.has(key.name())) {
        given.put(key.name(), values.required(key.name(), Object.class));
      }
    }
    return new Training(given);
  }

  /** Adds a problem for each contradiction between keys, if each key has a right value. */
  static void check(Values values) {
    if (KEYS.keys().stream().anyMatch(key -> values.isWrong(key.name()))) {
      return;
    }
    Training training = from(values);
    if (training.flag("fp16") && training.flag("bf16")) {
      values.report("bf16", "fp16 is true too; a run has one precision");
    }
    String mixed = training.text("mixed_precision").orElse(training.precision());
    if (!mixed.equals(training.precision())) {
      values.report(
          "mixed_precision", "is " + mixed + ", but " + training.precision() + " is true");
    }
    String strategy = training.text("strategy").orElse("fsdp");
    if (training.has("fsdp") && !strategy.equals("fsdp")) {
      values.report("fsdp", "needs strategy: fsdp, or no strategy at all");
    }
    if (!training.offload().equals("none")
        && !List.of("fsdp", "zero3").contains(training.strategy())) {
      values.report(
          training.has("offload") ? "offload" : "fsdp_offload_params",
          "needs strategy: fsdp or zero3, which spread the weights");
    }
    if (training.has("offload") && training.has("fsdp_offload_params")) {
      String same = training.flag("fsdp_offload_params") ? "cpu" : "none";
      if (!training.offload().equals(same)) {
        values.report(
            "fsdp_offload_params",
            "is another name for offload: " + same + ", but offload is " + training.offload());
      }
    }
    if (training.offload().equals("nvme") && !training.strategy().equals("zero3")) {
      values.report("offload", "nvme needs strategy: zero3; fsdp offloads to cpu");
    }
    for (String key : List.of("lora_r", "lora_alpha", "lora_dropout")) {
      if (training.has(key) && training.adapter().equals("none")) {
        values.report(key, "needs adapter: lora or qlora");
      }
    }
  }

  /** Returns whether the key is set. */
  public boolean has(String key) {
    return given.containsKey(key);
  }

  /** Returns the key's text; empty if it is not set. */
  public Optional<String> text(String key) {
    return Optional.ofNullable((String) given.get(key));
  }

  /** Returns the key's integer; empty if it is not set. */
  public Optional<Integer> integer(String key) {
    return Optional.ofNullable((Integer) given.get(key));
  }

  /** Returns the key's number; empty if it is not set. */
  public Optional<BigDecimal> decimal(String key) {
    return Optional.ofNullable((BigDecimal) given.get(key));
  }

  /** Returns whether the key is set to true. */
  public boolean flag(String key) {
    return Boolean.TRUE.equals(given.get(key));
  }

  /** Returns the precision: {@code fp16}, {@code bf16} or {@code no}. */
  public String precision() {
    if (flag("fp16")) {
      return "fp16";
    }
    return flag("bf16") ? "bf16" : text("mixed_precision").orElse("no");
  }

  /**
   * Returns the strategy: {@code ddp} (the default), {@code fsdp}, {@code zero1}, {@code zero2} or
   * {@code zero3}.
   */
  public String strategy() {
    return text("strategy").orElse(has("fsdp") ? "fsdp" : "ddp");
  }

  /**
   * Returns DeepSpeed's stage. The strategy must be {@code zero1}, {@code zero2} or {@code zero3}.
   */
  public int zeroStage() {
    return Integer.parseInt(strategy().substring("zero".length()));
  }

  /** Returns whether fsdp shards the weights again after the forward pass. */
  public boolean reshards() {
    return !text("fsdp").orElse("full_shard").equals("shard_grad_op");
  }

  /** Returns the type of fsdp's checkpoints, {@code SHARDED_STATE_DICT} by default. */
  public String stateDictType() {
    return text("fsdp_state_dict_type").orElse("SHARDED_STATE_DICT");
  }

  /** Returns the adapter: {@code none}, {@code lora} or {@code qlora}. */
  public String adapter() {
    return text("adapter").orElse("none");
  }

  /** Returns the offload target: {@code none}, {@code cpu} or {@code nvme}. */
  public String offload() {
    return text("offload").orElse(flag("fsdp_offload_params") ? "cpu" : "none");
  }

  /** Returns whether a model's name or size is given. */
  public boolean namesModel() {
    return has("model_name") || has("model_size");
  }

  /** Returns the number of the teacher's parameters, from its name; empty if that is unknown. */
  public Optional<Long> teacherParameters() {
    return ModelSize.ofName(text("teacher_model").orElse(""));
  }

  /**
   * Returns the number of the model's parameters, from {@code model_size} or the model's name;
   * empty if that is unknown.
   */
  public Optional<Long> parameters() {
    return ModelSize.of(text("model_size"), text("model_name").orElse(""));
  }
}
