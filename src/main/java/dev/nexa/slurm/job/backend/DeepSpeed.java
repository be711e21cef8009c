package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.Training;

/**
 * Writes DeepSpeed's config (deepspeed.ai, config-json). The trainer replaces the values "auto".
 */
final class DeepSpeed {
  private DeepSpeed() {}

  /** Returns the config. The strategy must be {@code zero1}, {@code zero2} or {@code zero3}. */
  static JsonObject config(Training training) {
    int stage = training.zeroStage();
    JsonObject zero = new JsonObject().with("stage", stage).with("overlap_comm", true);
    if (stage == 3) {
      zero.with("stage3_gather_16bit_weights_on_model_save", true);
    }
    if (!training.offload().equals("none")) {
      zero.with("offload_optimizer", offload(training));
      if (stage == 3) {
        zero.with("offload_param", offload(training));
      }
    }
    return new JsonObject()
        .with("zero_optimization", zero)
        .with("bf16", new JsonObject().with("enabled", training.precision().equals("bf16")))
        .with("fp16", new JsonObject().with("enabled", training.precision().equals("fp16")))
        .with("gradient_accumulation_steps", "auto")
        .with("gradient_clipping", "auto")
        .with("train_batch_size", "auto")
        .with("train_micro_batch_size_per_gpu", "auto");
  }

  private static JsonObject offload(Training training) {
    JsonObject offload =
        new JsonObject().with("device", training.offload()).with("pin_memory", true);
    return training.offload().equals("nvme") ? offload.with("nvme_path", "${scratch}") : offload;
  }
}
