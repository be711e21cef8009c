package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the shared training keys from a runner's own options: of Axolotl, TRL or Accelerate.
 *
 * <p>Estimates, the manifest and the rules for large models use them. A key that the config itself
 * sets wins over the file, and the config's {@code options} win over it, as they do in what runs.
 */
public final class NativeKeys {
  /**
   * Each list has the shared key, then the runner's names for it. The first name that is present
   * counts.
   */
  private static final List<List<String>> AXOLOTL =
      List.of(
          List.of("model_name", "base_model"),
          List.of("lr", "learning_rate"),
          List.of("batch_size", "micro_batch_size"),
          List.of("grad_accumulation", "gradient_accumulation_steps"),
          List.of("epochs", "num_epochs"),
          List.of("max_length", "sequence_len"),
          List.of("save_steps", "save_steps"),
          List.of("eval_steps", "eval_steps"),
          List.of("seed", "seed"));

  private static final List<List<String>> TRL =
      List.of(
          List.of("model_name", "model_name_or_path"),
          List.of("dataset_path", "dataset_name"),
          List.of("lr", "learning_rate"),
          List.of("batch_size", "per_device_train_batch_size"),
          List.of("grad_accumulation", "gradient_accumulation_steps"),
          List.of("epochs", "num_train_epochs"),
          List.of("max_length", "max_length", "max_completion_length"),
          List.of("save_steps", "save_steps"),
          List.of("eval_steps", "eval_steps"),
          List.of("seed", "seed"),
          List.of("teacher_model", "teacher_model_name_or_path"));

  private static final List<String> DATASETS =
      List.of("datasets", "pretraining_dataset", "test_datasets");

  private final boolean axolotl;
  private final boolean accelerate;
  private final JsonObject options;
  private final JsonObject launcher;
  private final Optional<NativeOptions> file;
  private final boolean ownProgram;
  private final Map<String, Object> found = new LinkedHashMap<>();

  /** The keys whose value is in {@code options}, with their names there. */
  private final Map<String, String> inOptions = new LinkedHashMap<>();

  private final List<String> overridden = new ArrayList<>();

  /**
   * Reads keys from the config's {@code options} and from the {@code options_file}.
   *
   * @param ownProgram whether the options are for a program of the user's own
   */
  NativeKeys(String backend, JsonObject options, Optional<NativeOptions> file, boolean ownProgram) {
    this.ownProgram = ownProgram;
    this.axolotl = backend.startsWith("ax");
    this.accelerate = backend.startsWith("acc");
    this.options = options;
    this.launcher = options.optionalObject("accelerate").orElseGet(JsonObject::new);
    this.file = file;
  }

  /** Returns whether this class knows the keys of the backend's runner. */
  public static boolean areReadBy(String backend) {
    return switch (backend) {
      case "axolotl", "ax", "hf", "accelerate", "acc" -> true;
      default -> false;
    };
  }

  /** Returns the config's training keys, plus the keys that only the runner's options give. */
  Training training(Training written) {
    trainer();
    if (accelerate) {
      launcher();
    }
    Map<String, Object> given = new LinkedHashMap<>(written.given());
    boolean precision =
        written.has("bf16") || written.has("fp16") || written.has("mixed_precision");
    boolean spread = written.has("strategy") || written.has("fsdp");
    for (Map.Entry<String, Object> key : found.entrySet()) {
      boolean same =
          switch (key.getKey()) {
            case "bf16", "fp16", "mixed_precision" -> precision;
            case "strategy", "fsdp", "fsdp_state_dict_type" -> spread;
            case "offload" ->
                spread || written.has("offload") || written.has("fsdp_offload_params");
            default -> false;
          };
      if (!same) {
        given.putIfAbsent(key.getKey(), key.getValue());
      }
    }
    Set<String> read = new HashSet<>(given.keySet());
    read.removeAll(written.given().keySet());
    for (Map.Entry<String, String> option : inOptions.entrySet()) {
      String key = option.getKey();
      Object value = found.get(key);
      if (!ownProgram && value != null && written.has(key)) {
        if (!value.equals(given.put(key, value))) {
          overridden.add(key + ": options." + option.getValue() + " wins over it");
        }
        read.add(key);
      }
    }
    return new Training(given, read);
  }

  /** Returns the notes plus a line for each key that {@link #training} took from the options. */
  List<String> overridden(List<String> notes) {
    List<String> all = new ArrayList<>(notes);
    all.addAll(overridden);
    return List.copyOf(all);
  }

  /**
   * Returns the resources with the nodes and GPUs of Accelerate's num_machines and num_processes,
   * if the config does not set gpus_per_node.
   */
  Resources resources(Resources written, Values resources) {
    if ("NO".equals(launched("distributed_type")) && resources.isDefault("gpus_per_node")) {
      boolean onGpu = !Boolean.TRUE.equals(launched("use_cpu"));
      return written.on(written.nodes(), accelerate && onGpu ? 1 : written.gpusPerNode());
    }
    if (!accelerate || !resources.isDefault("gpus_per_node")) {
      return written;
    }
    int nodes = whole(launched("num_machines")).orElse(1);
    int all = whole(launched("num_processes")).orElse(0);
    boolean counts =
        !Boolean.TRUE.equals(launched("use_cpu"))
            && all > 0
            && (nodes == written.nodes() || resources.isDefault("nodes"))
            && all % nodes == 0;
    return counts ? written.on(nodes, all / nodes) : written;
  }

  /** Returns the notes plus a line that lists which values were found and which are unknown. */
  List<String> noted(List<String> notes, Training training, Resources resources) {
    List<String> known = new ArrayList<>();
    List<String> unknown = new ArrayList<>();
    say("model", training.text("model_name"), known, unknown);
    say("dataset", training.text("dataset_path"), known, unknown);
    boolean half = !training.precision().equals("no");
    say("precision", half ? Optional.of(training.precision()) : Optional.empty(), known, unknown);
    if (!training.adapter().equals("none")) {
      known.add("adapter " + training.adapter());
    }
    if (Boolean.TRUE.equals(trained("load_in_8bit"))) {
      known.add("weights in 8 bits");
    }
    say("batch_size", training.integer("batch_size"), known, unknown);
    say("max_length", training.integer("max_length"), known, unknown);
    Optional<Integer> steps = whole(trained("max_steps")).filter(count -> count > 0);
    if (steps.isPresent()) {
      known.add("max_steps " + steps.get());
    } else {
      say("epochs", training.decimal("epochs"), known, unknown);
    }
    known.add(resources.nodes() * resources.gpusPerNode() + " GPUs");
    List<String> all = new ArrayList<>(notes);
    all.add(
        file.orElseThrow().name()
            + " and this config say: "
            + String.join(", ", known)
            + (unknown.isEmpty() ? "" : "; not known: " + String.join(", ", unknown)));
    return List.copyOf(all);
  }

  private static void say(
      String name, Optional<?> value, List<String> known, List<String> unknown) {
    if (value.isPresent()) {
      known.add(name + " " + value.get());
    } else {
      unknown.add(name);
    }
  }

  private void trainer() {
    for (List<String> names : axolotl ? AXOLOTL : TRL) {
      for (String name : names.subList(1, names.size())) {
        put(names.get(0), trained(name));
        if (NativeOptions.value(options, name) != null) {
          inOptions.putIfAbsent(names.get(0), name);
        }
      }
    }
    dataset();
    precision();
    adapter();
    if (axolotl) {
      axolotlSpread();
    }
  }

  private void dataset() {
    for (String key : DATASETS) {
      Object named = trained(key);
      Object first = named instanceof List<?> list && !list.isEmpty() ? list.get(0) : named;
      if (first instanceof JsonObject one) {
        Object path = one.members().get("data_files") instanceof String files ? files : null;
        put("dataset_path", path == null ? one.members().get("path") : path);
      } else {
        put("dataset_path", first);
      }
    }
  }

  private void precision() {
    Object bf16 = trained("bf16");
    boolean auto = "auto".equals(bf16) || "full".equals(bf16);
    if (Boolean.TRUE.equals(bf16) || auto || Boolean.TRUE.equals(trained("bfloat16"))) {
      found.put("bf16", true);
    } else if (Boolean.TRUE.equals(trained("fp16")) || Boolean.TRUE.equals(trained("float16"))) {
      found.put("fp16", true);
    }
  }

  private void adapter() {
    Object written = axolotl ? trained("adapter") : trained("use_peft");
    boolean lora = "lora".equals(written) || Boolean.TRUE.equals(written);
    boolean four = Boolean.TRUE.equals(trained("load_in_4bit"));
    if ("qlora".equals(written) || (lora && four)) {
      found.put("adapter", "qlora");
    } else if (lora) {
      found.put("adapter", "lora");
    } else {
      return;
    }
    put("lora_r", trained("lora_r"));
    put("lora_alpha", trained("lora_alpha"));
    put("lora_dropout", trained("lora_dropout"));
  }

  private void axolotlSpread() {
    if (trained("fsdp_config") != null
        || (trained("fsdp") instanceof List<?> list && !list.isEmpty())) {
      found.put("strategy", "fsdp");
      boolean offloads =
          trained("fsdp_config") instanceof JsonObject fsdp
              && (isTrue(fsdp, "offload_params") || isTrue(fsdp, "fsdp_offload_params"));
      if (offloads) {
        found.put("offload", "cpu");
      }
    } else if (trained("deepspeed") instanceof String path) {
      zero(path.toLowerCase(Locale.ROOT));
    }
  }

  /**
   * Guesses the ZeRO stage from the file's name: DeepSpeed's configs are called zero3.json or
   * ds_zero2.json.
   */
  private void zero(String path) {
    for (int stage = 1; stage <= 3; stage++) {
      if (path.contains("zero" + stage) || path.contains("zero_stage" + stage)) {
        found.put("strategy", "zero" + stage);
        if (stage == 3 && path.contains("offload")) {
          found.put("offload", "cpu");
        }
      }
    }
  }

  private void launcher() {
    Object precision = launched("mixed_precision");
    if ("bf16".equals(precision) || "fp16".equals(precision)) {
      found.remove("bf16");
      found.remove("fp16");
      found.put("mixed_precision", precision);
    }
    Object type = launched("distributed_type");
    if ("FSDP".equals(type)) {
      fsdp();
    } else if ("DEEPSPEED".equals(type)) {
      Optional<Integer> stage = whole(launched("deepspeed_config.zero_stage"));
      if (stage.isPresent() && stage.get() >= 1 && stage.get() <= 3) {
        found.put("strategy", "zero" + stage.get());
        Object offload = launched("deepspeed_config.offload_param_device");
        if (stage.get() == 3 && ("cpu".equals(offload) || "nvme".equals(offload))) {
          found.put("offload", offload);
        }
      } else if (launched("deepspeed_config.deepspeed_config_file") instanceof String path) {
        zero(path.toLowerCase(Locale.ROOT));
      }
    }
  }

  private void fsdp() {
    found.put("strategy", "fsdp");
    Object sharding = launched("fsdp_config.fsdp_sharding_strategy");
    Object reshards = launched("fsdp_config.fsdp_reshard_after_forward");
    if ("SHARD_GRAD_OP".equals(sharding)
        || "SHARD_GRAD_OP".equals(reshards)
        || Boolean.FALSE.equals(reshards)) {
      found.put("fsdp", "shard_grad_op");
    }
    if (Boolean.TRUE.equals(launched("fsdp_config.fsdp_offload_params"))) {
      found.put("offload", "cpu");
    }
    Object state = launched("fsdp_config.fsdp_state_dict_type");
    if ("FULL_STATE_DICT".equals(state) || "SHARDED_STATE_DICT".equals(state)) {
      found.put("fsdp_state_dict_type", state);
    }
  }

  /** Returns a key of the trainer: of Axolotl's or TRL's config. */
  private @Nullable Object trained(String key) {
    Object own = NativeOptions.value(options, key);
    return own != null || accelerate || file.isEmpty() ? own : file.get().value(key);
  }

  /** Returns a key of Accelerate's config. */
  private @Nullable Object launched(String key) {
    Object own = NativeOptions.value(launcher, key);
    return own != null || file.isEmpty() ? own : file.get().value(key);
  }

  /** Keeps the value if the shared key accepts it. Otherwise the key stays unknown. */
  private void put(String key, @Nullable Object value) {
    if (value == null || found.containsKey(key)) {
      return;
    }
    switch (key) {
      case "lr", "epochs", "lora_dropout" -> keep(key, decimal(value));
      case "model_name", "dataset_path", "teacher_model" ->
          keep(
              key,
              value instanceof String text && !text.isEmpty()
                  ? Optional.of(text)
                  : Optional.empty());
      default -> keep(key, whole(value).filter(number -> number >= (key.equals("seed") ? 0 : 1)));
    }
  }

  private void keep(String key, Optional<?> value) {
    value.ifPresent(one -> found.put(key, one));
  }

  private static boolean isTrue(JsonObject object, String key) {
    return Boolean.TRUE.equals(object.members().get(key));
  }

  private static Optional<Integer> whole(@Nullable Object value) {
    try {
      return decimal(value).map(BigDecimal::intValueExact);
    } catch (ArithmeticException fraction) {
      return Optional.empty();
    }
  }

  private static Optional<BigDecimal> decimal(@Nullable Object value) {
    if (value instanceof BigDecimal number) {
      return Optional.of(number);
    }
    try {
      return value instanceof String text ? Optional.of(new BigDecimal(text)) : Optional.empty();
    } catch (NumberFormatException word) {
      return Optional.empty();
    }
  }
}
