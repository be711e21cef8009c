package dev.nexa.slurm.job.estimate.model;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Offload;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Sharding;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Trains;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Weights;
import java.util.Optional;

/**
 * The peak memory of one GPU, in bytes by part; derived in docs/estimates.md.
 *
 * @param optimizer the optimizer's state, with an fp32 copy of the weights if it keeps one
 * @param buffers communication buffers and gathered weights
 * @param overhead the CUDA context and libraries
 */
public record MemoryParts(
    long weights,
    long gradients,
    long optimizer,
    long activations,
    long kvCache,
    long buffers,
    long overhead) {

  /** CUDA context, cuBLAS and NCCL. nvidia-smi shows 0.5 to 1.5 GiB for an empty process. */
  static final long CONTEXT = 1L << 30;

  /**
   * Bytes of a 4-bit weight: a block of 64 has one fp32 scale (Dettmers et al. 2023, section 2).
   */
  private static final double NF4_BYTES = 0.5 + 4.0 / 64;

  /** Factor for activations of 4-bit layers, which are converted to 16 bits for each pass. */
  private static final double NF4_ACTIVATIONS = 1.25;

  private static final int HALF = 2;
  private static final int FULL = 4;

  /** Bytes of one logit at the loss: 16 bits, fp32, its softmax, and the gradients of both. */
  private static final int LOGIT = 10;

  private static final int LOGIT_AT_LOSS = 16;

  /** Returns the parts for a setup. */
  public static MemoryParts of(MemorySetup setup) {
    double n = setup.spread().gpus();
    double trained = setup.tuning().trains() == Trains.NOTHING ? 0 : setup.tuning().trained();
    int width = setup.weights() == Weights.FP32 ? FULL : HALF;
    double weights = weights(setup, width);
    double gradients = trained * width;
    double state = trained * stateBytes(setup, width);
    double gathered = 0;
    double ddp =
        setup.spread().sharding() == Sharding.DDP && setup.spread().gpus() > 1 ? gradients : 0;
    switch (setup.spread().sharding()) {
      case NONE, DDP -> {}
      case ZERO1 -> state /= n;
      case ZERO2 -> {
        // DeepSpeed keeps whole gradients, and a second copy in fp32 in the partition.
        state = (state + FULL * trained) / n;
      }
      case SHARD_GRAD_OP -> {
        gradients /= n;
        state /= n;
      }
      case ZERO3, FULL_SHARD -> {
        gathered = gathered(setup, weights);
        weights /= n;
        gradients /= n;
        state = (state + (setup.spread().sharding() == Sharding.ZERO3 ? HALF * trained : 0)) / n;
      }
    }
    if (setup.spread().offload() != Offload.NONE) {
      gradients = 0;
      state = 0;
      weights =
          setup.spread().offload() == Offload.ALL && setup.spread().sharding().spreadsWeights()
              ? 0
              : weights;
    }
    weights = weights / setup.spread().splits() + width * (double) setup.model().teacher();
    boolean serves = setup.tuning().trains() == Trains.NOTHING;
    Optional<ModelShape> shape = setup.model().shape();
    double activations = serves ? 0 : shape.map(of -> activations(setup, of)).orElse(0.0);
    double cache = serves ? shape.map(of -> cache(setup, of)).orElse(0.0) : 0;
    double buffers = deepSpeed(setup) ? 2.0 * HALF * setup.spread().bucket() : 0;
    return new MemoryParts(
        (long) weights,
        (long) gradients,
        (long) state,
        (long) activations,
        (long) cache,
        (long) (buffers + gathered + ddp),
        CONTEXT);
  }

  /** Returns the sum of all parts. */
  public long total() {
    return allocated() + overhead;
  }

  /** Returns the bytes that the framework's allocator counts: all except the overhead. */
  long allocated() {
    return states() + activations + kvCache + buffers;
  }

  /** Returns the bytes of weights, gradients and optimizer. */
  long states() {
    return weights + gradients + optimizer;
  }

  private static boolean deepSpeed(MemorySetup setup) {
    return switch (setup.spread().sharding()) {
      case ZERO1, ZERO2, ZERO3 -> true;
      default -> false;
    };
  }

  private static double weights(MemorySetup setup, int width) {
    double all = setup.model().parameters();
    double adapter =
        setup.tuning().trains() == Trains.ADAPTER ? (double) setup.tuning().trained() * HALF : 0;
    if (setup.weights() != Weights.NF4) {
      return all * width + adapter;
    }
    double open = setup.model().shape().isPresent() ? setup.model().shape().get().embedding() : 0;
    return open * HALF + (all - open) * NF4_BYTES + adapter;
  }

  /** Returns the bytes of optimizer state for each trained parameter. */
  private static int stateBytes(MemorySetup setup, int width) {
    boolean wide =
        setup.tuning().copy() || width == FULL || setup.tuning().trains() == Trains.ADAPTER;
    int moments = 2 * (wide ? FULL : HALF);
    int own =
        switch (setup.tuning().optimizer()) {
          case ADAMW -> moments;
          case ADAMW_8BIT -> 2;
          case ADAFACTOR, SGD -> 0;
        };
    return own + (setup.tuning().copy() ? FULL : 0);
  }

  /**
   * Returns the bytes of gathered weights: the layer that works, the next layer, and the weights
   * outside of layers.
   */
  private static double gathered(MemorySetup setup, double weights) {
    if (setup.model().shape().isEmpty()) {
      return 0;
    }
    ModelShape shape = setup.model().shape().get();
    double outside =
        setup.spread().sharding() == Sharding.FULL_SHARD ? HALF * (double) shape.embedding() : 0;
    return 2 * weights / shape.layers() + outside;
  }

  private static double activations(MemorySetup setup, ModelShape shape) {
    double tokens = (double) setup.batch().size() * setup.batch().sequence();
    double layer = layer(setup, shape) * shape.hidden() * tokens;
    double logits = tokens * shape.vocabulary();
    if (!setup.recomputes()) {
      return layer * shape.layers() + logits * (setup.chunkedLoss() ? HALF : LOGIT);
    }
    double kept = (double) HALF * shape.layers() * shape.hidden() * tokens;
    return kept + Math.max(layer, logits * (setup.chunkedLoss() ? HALF : LOGIT_AT_LOSS));
  }

  /** Returns the bytes that a layer keeps for the backward pass, per token and unit of width. */
  private static double layer(MemorySetup setup, ModelShape shape) {
    double share = (double) shape.keyValueHeads() / shape.heads();
    double wide = (double) shape.intermediate() / shape.hidden();
    boolean adapter = setup.tuning().trains() == Trains.ADAPTER;
    double attention = HALF * (1 + 2 * share) + HALF;
    double norms = shape.gated() ? 18 : 11;
    // A frozen matrix has no gradient, so its input is not kept.
    double feedForward = ((shape.gated() ? 8 : 4) - (adapter ? 2 : 0)) * wide;
    double bytes = norms + attention + feedForward + (adapter ? 3 : 0);
    return setup.weights() == Weights.NF4 ? bytes * NF4_ACTIVATIONS : bytes;
  }

  /** Returns the bytes of the keys and values of all tokens that a server holds. */
  private static double cache(MemorySetup setup, ModelShape shape) {
    double width = (double) shape.hidden() / shape.heads() * shape.keyValueHeads();
    double tokens = (double) setup.batch().size() * setup.batch().sequence();
    return 2 * shape.layers() * width * HALF * tokens / setup.spread().splits();
  }

  JsonObject toJson() {
    return new JsonObject()
        .with("weights", weights)
        .with("gradients", gradients)
        .with("optimizer", optimizer)
        .with("activations", activations)
        .with("kv_cache", kvCache)
        .with("overhead", buffers + overhead);
  }
}
