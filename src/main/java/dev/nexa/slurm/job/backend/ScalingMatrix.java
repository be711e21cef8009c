package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.config.run.ModelFolder;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import java.math.BigDecimal;
import java.util.List;

/**
 * The backend and hardware for each size of model, tiers T1 to T4, from the documents that
 * specified nexa-slurm. The backend {@code hf} trains models of at most 15 billion parameters.
 * Models of more than 60 billion parameters are trained with adapters only.
 */
enum ScalingMatrix {
  T1(13, "hf", "1x80GB or 2x48GB"),
  T2(30, "axolotl", "4 to 8x48GB, NVLink ideal"),
  T3(60, "accelerate", "8x A100 or H100, or several nodes"),
  T4(1_000_000, "axolotl", "several nodes and a fast network, adapters only");

  private static final long BILLION = 1_000_000_000L;
  private static final long LARGEST_FOR_HF = 15 * BILLION;
  private static final long LARGEST_WITHOUT_ADAPTERS = 60 * BILLION;

  private final long billions;
  private final String backend;
  private final String hardware;

  ScalingMatrix(long billions, String backend, String hardware) {
    this.billions = billions;
    this.backend = backend;
    this.hardware = hardware;
  }

  /** Returns the first tier for that many parameters; T4 for all larger models. */
  static ScalingMatrix of(long parameters) {
    for (ScalingMatrix tier : values()) {
      if (parameters <= tier.billions * BILLION) {
        return tier;
      }
    }
    return T4;
  }

  /**
   * Adds a problem if the model is too large for the backend or for training without adapters. Asks
   * for {@code model_size} if the size is unknown and {@code hf} trains on GPUs.
   */
  static void check(Plan plan, String backend, List<Problem> problems) {
    Training training = plan.training();
    if (training.parameters().isEmpty()) {
      if (backend.equals("hf")
          && training.has("model_name")
          && plan.allocation().gpusPerNode() > 0) {
        String message =
            ("missing: hf trains models of up to 15B, and neither the name '%s' nor a config.json"
                    + " in a folder of that name tells how large this one is; write\n"
                    + "    model_size: 7B    # or 350M, 1.5B, 8x7B")
                .formatted(plan.model().orElse(""));
        problems.add(plan.written().problem("model_size", message));
      }
      return;
    }
    // A false model_size must not pass the rules.
    long said = training.parameters().get();
    long parameters =
        Math.max(said, ModelFolder.contradiction(training, plan.site().storage()).orElse(said));
    ScalingMatrix tier = of(parameters);
    String size = words(parameters) + " parameters (" + tier + ": " + tier.hardware + ")";
    size += parameters > said ? ", by its name or its config.json, not by model_size" : "";
    if (backend.equals("hf") && parameters > LARGEST_FOR_HF) {
      boolean adapters = parameters > LARGEST_WITHOUT_ADAPTERS;
      String message =
          "hf trains models of up to 15B, this one has %s; write\n    backend: %s\n    %s"
              .formatted(
                  size,
                  tier.backend,
                  adapters
                      ? "adapter: qlora"
                      : "strategy: fsdp    # or adapter: qlora, on fewer GPUs");
      problems.add(plan.written().problem("backend", message));
    } else if (parameters > LARGEST_WITHOUT_ADAPTERS && training.adapter().equals("none")) {
      String message =
          "models of over 60B are trained with adapters only, this one has %s; write\n"
              + "    adapter: lora    # or qlora, on fewer GPUs";
      problems.add(plan.written().problem("adapter", message.formatted(size)));
    }
  }

  private static String words(long parameters) {
    return BigDecimal.valueOf(parameters).movePointLeft(9).stripTrailingZeros().toPlainString()
        + "B";
  }
}
