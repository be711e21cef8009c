package dev.nexa.slurm.estimate.analytic;

import java.util.Optional;

/**
 * What the memory of one GPU follows from.
 *
 * @param parameters of the model
 * @param shape empty where it is not known: then nothing is said of activations and caches
 * @param trained parameters that are trained; those of the adapter where it is {@link
 *     Trains#ADAPTER}
 * @param copy whether the optimizer keeps weights in fp32 beside those in 16 bits
 * @param gpus over which {@code sharding} spreads
 * @param splits parts of a server's model: tensor x pipeline
 * @param microBatch examples at once on a GPU, or sequences that a server holds; 0 where unknown
 * @param sequence tokens of each; 0 where unknown
 * @param bucket elements of a communication buffer of DeepSpeed
 * @param teacher parameters of a teacher that runs on the same GPU
 */
public record MemorySetup(
    long parameters,
    Optional<ModelShape> shape,
    Weights weights,
    Trains trains,
    long trained,
    Optimizer optimizer,
    boolean copy,
    Sharding sharding,
    Offload offload,
    int gpus,
    int splits,
    int microBatch,
    int sequence,
    boolean recomputes,
    boolean chunkedLoss,
    long bucket,
    long teacher) {

  /** How weights are kept. */
  public enum Weights {
    FP32,
    HALF,
    NF4
  }

  /** What gets gradients. */
  public enum Trains {
    ALL,
    ADAPTER,
    NOTHING
  }

  /** What keeps how much state. */
  public enum Optimizer {
    ADAMW,
    ADAMW_8BIT,
    ADAFACTOR,
    SGD
  }

  /** What is spread over the GPUs, and what is whole on each. */
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

  /** What lies off the GPU while it is not used. */
  public enum Offload {
    NONE,
    OPTIMIZER,
    ALL
  }

  MemorySetup with(Sharding other, int count) {
    return new MemorySetup(
        parameters,
        shape,
        weights,
        trains,
        trained,
        optimizer,
        copy,
        other,
        offload,
        count,
        splits,
        microBatch,
        sequence,
        recomputes,
        chunkedLoss,
        bucket,
        teacher);
  }

  MemorySetup withOffload() {
    return new MemorySetup(
        parameters,
        shape,
        weights,
        trains,
        trained,
        optimizer,
        copy,
        sharding,
        Offload.ALL,
        gpus,
        splits,
        microBatch,
        sequence,
        recomputes,
        chunkedLoss,
        bucket,
        teacher);
  }

  MemorySetup recomputing() {
    return new MemorySetup(
        parameters,
        shape,
        weights,
        trains,
        trained,
        optimizer,
        copy,
        sharding,
        offload,
        gpus,
        splits,
        microBatch,
        sequence,
        true,
        chunkedLoss,
        bucket,
        teacher);
  }

  MemorySetup withChunkedLoss() {
    return new MemorySetup(
        parameters,
        shape,
        weights,
        trains,
        trained,
        optimizer,
        copy,
        sharding,
        offload,
        gpus,
        splits,
        microBatch,
        sequence,
        recomputes,
        true,
        bucket,
        teacher);
  }

  MemorySetup withMicroBatch(int other) {
    return new MemorySetup(
        parameters,
        shape,
        weights,
        trains,
        trained,
        optimizer,
        copy,
        sharding,
        offload,
        gpus,
        splits,
        other,
        sequence,
        recomputes,
        chunkedLoss,
        bucket,
        teacher);
  }

  MemorySetup with8Bit() {
    return new MemorySetup(
        parameters,
        shape,
        weights,
        trains,
        trained,
        Optimizer.ADAMW_8BIT,
        copy,
        sharding,
        offload,
        gpus,
        splits,
        microBatch,
        sequence,
        recomputes,
        chunkedLoss,
        bucket,
        teacher);
  }

  MemorySetup withAdapter(Weights base, long adapter) {
    return new MemorySetup(
        parameters,
        shape,
        base,
        Trains.ADAPTER,
        adapter,
        optimizer,
        false,
        sharding,
        offload,
        gpus,
        splits,
        microBatch,
        sequence,
        recomputes,
        chunkedLoss,
        bucket,
        teacher);
  }

  MemorySetup withSplits(int other) {
    return new MemorySetup(
        parameters,
        shape,
        weights,
        trains,
        trained,
        optimizer,
        copy,
        sharding,
        offload,
        gpus,
        other,
        microBatch,
        sequence,
        recomputes,
        chunkedLoss,
        bucket,
        teacher);
  }
}
