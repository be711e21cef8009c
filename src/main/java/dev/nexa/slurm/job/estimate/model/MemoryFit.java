package dev.nexa.slurm.job.estimate.model;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Offload;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Sharding;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Trains;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether a run fits into the memory of its GPUs.
 *
 * @param fits empty if the difference is within the model's error
 * @param parts the parts of the memory
 * @param gpuBytes the GPU's memory
 * @param sentence the result, for users
 * @param remedies changes that would each make the run fit, as keys of a config
 * @param assumptions values that the config does not give and the result assumes
 */
public record MemoryFit(
    Optional<Boolean> fits,
    MemoryParts parts,
    long gpuBytes,
    String sentence,
    List<String> remedies,
    List<String> assumptions) {

  /**
   * The error of the memory model (docs/estimates.md). A run fits if it needs less than the memory
   * by this share.
   */
  static final double ERROR = 0.15;

  /** The longest sequence in training against which the model was validated. */
  static final int LONGEST = 32_768;

  private static final String RECOMPUTES = "options.gradient_checkpointing: true";
  private static final int MOST_REMEDIES = 3;
  private static final int MOST_GPUS = 64;
  private static final double GIB = 1L << 30;

  /**
   * The details of the remedies for the plan's runner.
   *
   * @param rank the rank of an adapter
   * @param base the weights under {@code adapter: lora}
   * @param chunking the words for a loss in parts
   * @param borrowed the model of another name whose shape is assumed; empty if the shape is known
   */
  record Choices(int rank, Weights base, String chunking, Optional<String> borrowed) {}

  /**
   * Returns the result for a setup.
   *
   * @return empty if sizes are unknown and the known parts fit: the unknown parts may be too large
   */
  public static Optional<MemoryFit> of(
      MemorySetup setup, long gpuBytes, Choices choices, List<String> assumptions) {
    MemoryParts parts = MemoryParts.of(setup);
    Optional<Boolean> fits = judge(setup, parts, gpuBytes);
    boolean whole = isWhole(setup);
    if (!whole && fits.orElse(true)) {
      return Optional.empty();
    }
    if (choices.borrowed().isPresent() && fits.orElse(false)) {
      String sentence =
          ("may fit: %s, if its layers and widths are those of %s (say them below" + " estimate)")
              .formatted(ofGpu(parts, gpuBytes), choices.borrowed().get());
      return Optional.of(
          new MemoryFit(Optional.empty(), parts, gpuBytes, sentence, List.of(), assumptions));
    }
    List<String> remedies = fits.orElse(false) ? List.of() : remedies(setup, gpuBytes, choices);
    String would = choices.borrowed().isPresent() ? "; may fit with " : "; fits with ";
    String sentence =
        sentence(fits, parts, gpuBytes, whole)
            + (remedies.isEmpty() ? "" : would + either(remedies));
    return Optional.of(new MemoryFit(fits, parts, gpuBytes, sentence, remedies, assumptions));
  }

  /** Returns whether the parts fit; empty if the difference is within the model's error. */
  static Optional<Boolean> judge(MemorySetup setup, MemoryParts parts, long gpuBytes) {
    if (parts.total() > gpuBytes) {
      return Optional.of(false);
    }
    boolean beyond =
        setup.tuning().trains() != Trains.NOTHING && setup.batch().sequence() > LONGEST;
    return beyond || parts.total() * (1 + ERROR) > gpuBytes ? Optional.empty() : Optional.of(true);
  }

  private static boolean isWhole(MemorySetup setup) {
    return setup.model().shape().isPresent()
        && setup.batch().size() > 0
        && setup.batch().sequence() > 0;
  }

  private static String sentence(
      Optional<Boolean> fits, MemoryParts parts, long gpuBytes, boolean whole) {
    String of = ofGpu(parts, gpuBytes);
    if (fits.isEmpty()) {
      return "may not fit: " + of + ", too close for an estimate that can be 15 % off";
    }
    return fits.get() ? "fits: " + of : "does not fit: " + (whole ? "" : "at least ") + of;
  }

  private static String ofGpu(MemoryParts parts, long gpuBytes) {
    return gib(parts.total()) + " of " + Math.round(gpuBytes / GIB) + " GiB";
  }

  /** Returns GiB rounded up, so that 79.6 GiB is not shown as fitting exactly. */
  private static long gib(long bytes) {
    return (long) Math.ceil(bytes / GIB - 0.05);
  }

  private static String either(List<String> all) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < all.size(); i++) {
      text.append(i == 0 ? "" : i == all.size() - 1 ? " or " : ", ").append(all.get(i));
    }
    return text.toString();
  }

  /** Returns the remedies that are each sufficient. If none is, returns combinations of them. */
  private static List<String> remedies(MemorySetup setup, long gpuBytes, Choices choices) {
    List<String> found = new ArrayList<>();
    if (setup.tuning().trains() == Trains.NOTHING) {
      for (int splits = setup.spread().splits() * 2; splits <= mostGpus(setup); splits *= 2) {
        String words = splits + " GPUs for the model (resources.gpus_per_node, resources.nodes)";
        if (tryOut(found, setup.withSplits(splits), gpuBytes, words)) {
          break;
        }
      }
      return found;
    }
    if (!setup.recomputes()) {
      tryOut(found, setup.recomputing(), gpuBytes, RECOMPUTES);
    }
    if (!setup.chunkedLoss()) {
      tryOut(found, setup.withChunkedLoss(), gpuBytes, choices.chunking());
    }
    if (setup.batch().size() > 1) {
      tryOut(found, setup.withMicroBatch(1), gpuBytes, "batch_size: 1");
    }
    boolean zero = setup.spread().sharding().name().startsWith("ZERO");
    Sharding spread = zero ? Sharding.ZERO3 : Sharding.FULL_SHARD;
    String fsdp =
        setup.spread().sharding() == Sharding.SHARD_GRAD_OP ? "fsdp: full_shard" : "strategy: fsdp";
    String word = (zero ? "strategy: zero3" : fsdp) + " over ";
    int first =
        setup.spread().sharding() == spread
            ? setup.spread().gpus() * 2
            : Math.max(2, setup.spread().gpus());
    for (int gpus = first; gpus <= mostGpus(setup); gpus *= 2) {
      if (tryOut(found, setup.with(spread, gpus), gpuBytes, word + gpus + " GPUs")) {
        break;
      }
    }
    if (setup.tuning().trains() == Trains.ALL && setup.model().shape().isPresent()) {
      long adapter = setup.model().shape().get().adapter(choices.rank());
      if (!tryOut(found, setup.withAdapter(choices.base(), adapter), gpuBytes, "adapter: lora")) {
        tryOut(found, setup.withAdapter(Weights.NF4, adapter), gpuBytes, "adapter: qlora");
      }
    } else if (setup.tuning().trains() == Trains.ADAPTER && setup.weights() != Weights.NF4) {
      if (setup.weights() == Weights.FP32) {
        MemorySetup half = setup.withAdapter(Weights.HALF, setup.tuning().trained());
        tryOut(found, half, gpuBytes, "options.dtype: bfloat16");
      }
      MemorySetup small = setup.withAdapter(Weights.NF4, setup.tuning().trained());
      tryOut(found, small, gpuBytes, "adapter: qlora");
    }
    tryOut(
        found, setup.with8Bit(), gpuBytes, "an 8-bit optimizer (estimate.optimizer: adamw_8bit)");
    if (found.isEmpty()) {
      together(found, setup, gpuBytes, choices, word, spread);
    }
    return found.size() <= MOST_REMEDIES ? found : found.subList(0, MOST_REMEDIES);
  }

  /** Combines the changes that only cost time with more GPUs or an adapter. */
  private static void together(
      List<String> found,
      MemorySetup setup,
      long gpuBytes,
      Choices choices,
      String word,
      Sharding spread) {
    MemorySetup small = setup.recomputing().withMicroBatch(1);
    String also = setup.recomputes() ? "" : " with " + RECOMPUTES;
    if (setup.batch().size() > 1) {
      also += also.isEmpty() ? " with batch_size: 1" : " and batch_size: 1";
    }
    for (int gpus = Math.max(2, setup.spread().gpus()); gpus <= mostGpus(setup); gpus *= 2) {
      if (tryOut(found, small.with(spread, gpus), gpuBytes, word + gpus + " GPUs" + also)) {
        break;
      }
    }
    if (setup.tuning().trains() == Trains.ALL && setup.model().shape().isPresent()) {
      long adapter = setup.model().shape().get().adapter(choices.rank());
      tryOut(found, small.withAdapter(Weights.NF4, adapter), gpuBytes, "adapter: qlora" + also);
    }
    if (found.isEmpty() && setup.spread().offload() == Offload.NONE) {
      int gpus = Math.max(2, setup.spread().gpus());
      MemorySetup off = small.with(spread, gpus).withOffload();
      tryOut(found, off, gpuBytes, word + gpus + " GPUs, offload: cpu" + also);
    }
  }

  /** Limits the number of GPUs in a remedy to a realistic one. */
  private static int mostGpus(MemorySetup setup) {
    return Math.max(MOST_GPUS, setup.spread().gpus() * 2);
  }

  private static boolean tryOut(
      List<String> found, MemorySetup other, long gpuBytes, String words) {
    boolean does = isWhole(other) && judge(other, MemoryParts.of(other), gpuBytes).orElse(false);
    if (does) {
      found.add(words);
    }
    return does;
  }

  /** Returns the key {@code memory} of an estimate. */
  public JsonObject toJson() {
    return new JsonObject()
        .with("fits", fits.isPresent() ? fits.get() : null)
        .with("per_gpu_bytes", parts.total())
        .with("gpu_bytes", gpuBytes)
        .with("parts", parts.toJson())
        .with("sentence", sentence)
        .with("remedies", remedies)
        .with("assumptions", assumptions);
  }
}
