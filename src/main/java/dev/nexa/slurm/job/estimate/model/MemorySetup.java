package dev.nexa.slurm.job.estimate.model;

import java.util.Optional;

/**
 * The facts that determine the memory of one GPU.
 *
 * @param recomputes whether activations are computed again in the backward pass
 * @param chunkedLoss whether the loss is computed in parts
 */
public record MemorySetup(
    Model model,
    Weights weights,
    Tuning tuning,
    Spread spread,
    Batch batch,
    boolean recomputes,
    boolean chunkedLoss) {

  /**
   * The model.
   *
   * @param shape its layers and widths; empty if unknown: then activations and caches are not
   *     counted
   * @param teacher the parameters of a teacher on the same GPU; 0 for none
   */
  public record Model(long parameters, Optional<ModelShape> shape, long teacher) {}

  /**
   * The trained part of a model.
   *
   * @param trained the trained parameters; for {@link Trains#ADAPTER}, the adapter's parameters
   * @param copy whether the optimizer keeps an fp32 copy of 16-bit weights
   */
  public record Tuning(Trains trains, long trained, Optimizer optimizer, boolean copy) {}

  /**
   * How the state is spread over GPUs.
   *
   * @param gpus the number of GPUs that {@code sharding} spreads over
   * @param splits the parts of a server's model: tensor x pipeline
   * @param bucket the elements of a DeepSpeed communication buffer
   */
  public record Spread(Sharding sharding, Offload offload, int gpus, int splits, long bucket) {}

  /**
   * The data that a GPU works on at once.
   *
   * @param size examples, or sequences that a server holds; 0 if unknown
   * @param sequence tokens of each; 0 if unknown
   */
  public record Batch(int size, int sequence) {}

  /** The precision of the weights. */
  public enum Weights {
    FP32,
    HALF,
    NF4
  }

  /** The parameters that are trained. */
  public enum Trains {
    ALL,
    ADAPTER,
    NOTHING
  }

  /** The optimizer, which determines the size of its state. */
  public enum Optimizer {
    ADAMW,
    ADAMW_8BIT,
    ADAFACTOR,
    SGD
  }

  /** How the training state is spread over the GPUs. */
  public enum Sharding {
    NONE,
    DDP,
    ZERO1,
    ZERO2,
    ZERO3,
    SHARD_GRAD_OP,
    FULL_SHARD;

    boolean spreadsWeights() {
      return this == ZERO3 || this == FULL_SHARD;
    }
  }

  /** The parts that are kept outside of the GPU while they are not used. */
  public enum Offload {
    NONE,
    OPTIMIZER,
    ALL
  }

  MemorySetup with(Sharding sharding, int gpus) {
    return with(new Spread(sharding, spread.offload(), gpus, spread.splits(), spread.bucket()));
  }

  MemorySetup withOffload() {
    return with(
        new Spread(
            spread.sharding(), Offload.ALL, spread.gpus(), spread.splits(), spread.bucket()));
  }

  MemorySetup withSplits(int splits) {
    return with(
        new Spread(spread.sharding(), spread.offload(), spread.gpus(), splits, spread.bucket()));
  }

  private MemorySetup with(Spread other) {
    return new MemorySetup(model, weights, tuning, other, batch, recomputes, chunkedLoss);
  }

  MemorySetup recomputing() {
    return new MemorySetup(model, weights, tuning, spread, batch, true, chunkedLoss);
  }

  MemorySetup withChunkedLoss() {
    return new MemorySetup(model, weights, tuning, spread, batch, recomputes, true);
  }

  MemorySetup withMicroBatch(int size) {
    Batch smaller = new Batch(size, batch.sequence());
    return new MemorySetup(model, weights, tuning, spread, smaller, recomputes, chunkedLoss);
  }

  MemorySetup with8Bit() {
    return with(
        weights,
        new Tuning(tuning.trains(), tuning.trained(), Optimizer.ADAMW_8BIT, tuning.copy()));
  }

  MemorySetup withAdapter(Weights base, long adapter) {
    return with(base, new Tuning(Trains.ADAPTER, adapter, tuning.optimizer(), false));
  }

  private MemorySetup with(Weights base, Tuning other) {
    return new MemorySetup(model, base, other, spread, batch, recomputes, chunkedLoss);
  }
}
