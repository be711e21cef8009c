package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.List;
import java.util.Optional;

/**
 * How TRL's scripts treat the options of a plan and the options that the plan leaves out, as far as
 * memory depends on that. The source is TRL 1.13.0: {@code sft_config.py}, {@code model_config.py},
 * {@code scripts/sft.py} and {@code scripts/distillation.py}.
 */
public record TrlScript(Plan plan) {
  /** TRL's key for the type of a model's weights after loading. */
  public static final String DTYPE = "dtype";

  /** TRL's key for the layers that get adapters. */
  public static final String TARGETS = "lora_target_modules";

  /** TRL's key for how the teacher is loaded. */
  public static final String TEACHER = "teacher_model_init_kwargs";

  /** ModelConfig's default of {@link #DTYPE}, also with {@code bf16: true}. */
  private static final String LOADED = "float32";

  private static final List<String> EVERY = List.of("all-linear");
  private static final String BFLOAT16 = "bfloat16";
  private static final String CHUNKED = "chunked_nll";

  /** Returns the script of a plan; empty if the plan runs another program. */
  public static Optional<TrlScript> of(Plan plan) {
    boolean runs =
        plan.backend().equals("hf")
            || (plan.backend().startsWith("acc") && plan.payload().entrypoint().isEmpty());
    return runs ? Optional.of(new TrlScript(plan)) : Optional.empty();
  }

  /** Returns what the user's options or options file say for a key. */
  public Optional<Object> said(String key) {
    Object own = plan.options().members().get(key);
    boolean ownFile = plan.backend().equals("hf") && plan.payload().optionsFile().isPresent();
    return Optional.ofNullable(
        own == null && ownFile ? plan.payload().optionsFile().get().value(key) : own);
  }

  /**
   * Returns our keys for the model under an adapter, and for a teacher: weights that are not
   * trained need no copy in fp32. The user's own keys come before them.
   */
  public JsonObject frozenModel() {
    JsonObject keys = new JsonObject();
    if (adapts()) {
      if (isBf16() && said(DTYPE).isEmpty()) {
        keys.with(DTYPE, BFLOAT16);
      }
      if (said(TARGETS).isEmpty()) {
        keys.with(TARGETS, EVERY);
      }
    }
    if (isBf16() && plan.training().flag("use_kd") && said(TEACHER).isEmpty()) {
      keys.with(TEACHER, new JsonObject().with(DTYPE, BFLOAT16));
    }
    return keys;
  }

  /** Returns whether the config itself asks for an adapter: then our keys are written. */
  private boolean adapts() {
    return !plan.training().written().adapter().equals("none");
  }

  private boolean isBf16() {
    return plan.training().precision().equals("bf16");
  }

  /** Returns whether the weights are loaded in fp32. */
  public boolean loadsFp32() {
    return loadsFp32(adapts());
  }

  /** Returns whether the weights would be loaded in fp32 with, or without, {@code adapter}. */
  public boolean loadsFp32(boolean adapter) {
    return said(DTYPE).orElse(adapter && isBf16() ? BFLOAT16 : LOADED).equals(LOADED);
  }

  /** Returns whether adapters are at every linear layer; by default PEFT chooses a few. */
  public boolean adaptsEveryLayer() {
    return said(TARGETS).map(EVERY::equals).orElse(adapts());
  }

  /** Returns whether the logits of a whole batch are never in memory at once. */
  public boolean chunksLoss() {
    return plan.training().flag("use_kd")
        || said("loss_type").orElse(usesLiger() ? "nll" : CHUNKED).equals(CHUNKED);
  }

  private boolean usesLiger() {
    return said("use_liger_kernel").orElse(false).equals(true);
  }

  /** Returns the change that makes the loss be computed in parts. */
  public String chunking() {
    return "options.loss_type: " + CHUNKED + (usesLiger() ? " without use_liger_kernel" : "");
  }
}
