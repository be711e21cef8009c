package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes DeepSpeed's config (deepspeed.ai, config-json). The trainer replaces the values "auto".
 */
final class DeepSpeed {
  /**
   * Where weights are swapped to: the task's own folder, which its end removes. DeepSpeed empties
   * its part of the folder at the start, so two tasks must not share one.
   */
  static final String SWAP = "${task_scratch}";

  private static final Pattern SWAPS =
      Pattern.compile(
          "\\b(\\w*nvme_path)[\"']?[ \\t]*:[ \\t]*[\"']?((?:\\$\\{\\w+})?[^\"',}\\s]*)");

  private DeepSpeed() {}

  /** Returns a note for each file of the runner that names another folder than {@link #SWAP}. */
  static List<String> shared(List<RunnerFile> files) {
    List<String> notes = new ArrayList<>();
    for (RunnerFile file : files) {
      Matcher swap = SWAPS.matcher(new String(file.content(), StandardCharsets.UTF_8));
      while (swap.find()) {
        String folder = swap.group(2);
        if (!folder.startsWith(SWAP) && !List.of("", "null", "none", "~").contains(folder)) {
          notes.add(
              ("%s: %s: all jobs that swap to %s on one node overwrite each other's"
                      + " weights; write %s, the task's own folder")
                  .formatted(file.name(), swap.group(1), folder, SWAP));
        }
      }
    }
    return notes;
  }

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
    return training.offload().equals("nvme") ? offload.with("nvme_path", SWAP) : offload;
  }
}
