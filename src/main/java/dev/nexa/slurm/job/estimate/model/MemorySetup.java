package dev.nexa.slurm.job.estimate.model;

import java.util.Optional;

/**
 * The facts that determine the memory of one GPU.
 *
 * @param parameters the model's parameters
 * @param shape the model's layers and widths; empty if unknown: then activations and caches are not
 *     counted
 * @param trained the trained parameters; those of the adapter for {@link Trains#ADAPTER}
 * @param copy whether the optimizer keeps an fp32 copy of 16-bit weights
 * @param gpus the number of GPUs over which {@code sharding} spreads
 * @param splits the parts of a server's model: tensor x pipeline
 * @param microBatch examples on a GPU at once, or sequences that a server holds; 0 if unknown
 * @param sequence tokens of each; 0 if unknown
 * @param recomputes whether activations are computed again in the backward pass
 * @param chunkedLoss whether the loss is computed in parts
 * @param bucket the elements of a DeepSpeed communication buffer
 * @param teacher the parameters of a teacher on the same GPU; 0 for none
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

  MemorySetup with(Sharding other, int count) {
    Draft draft = new Draft();
    draft.sharding = other;
    draft.gpus = count;
    return draft.done();
  }

  MemorySetup withOffload() {
    Draft draft = new Draft();
    draft.offload = Offload.ALL;
    return draft.done();
  }

  MemorySetup recomputing() {
    Draft draft = new Draft();
    draft.recomputes = true;
    return draft.done();
  }

  MemorySetup withChunkedLoss() {
    Draft draft = new Draft();
    draft.chunkedLoss = true;
    return draft.done();
  }

  MemorySetup withMicroBatch(int other) {
    Draft draft = new Draft();
    draft.microBatch = other;
    return draft.done();
  }

  MemorySetup with8Bit() {
    Draft draft = new Draft();
    draft.optimizer = Optimizer.ADAMW_8BIT;
    return draft.done();
  }

  MemorySetup withAdapter(Weights base, long adapter) {
    Draft draft = new Draft();
    draft.weights = base;
    draft.trains = Trains.ADAPTER;
    draft.trained = adapter;
    draft.copy = false;
    return draft.done();
  }

  MemorySetup withSplits(int other) {
    Draft draft = new Draft();
    draft.splits = other;
    return draft.done();
  }

  /** A copy of this setup with some values changed. */
  private final class Draft {
    private Weights weights = MemorySetup.this.weights;
    private Trains trains = MemorySetup.this.trains;
    private long trained = MemorySetup.this.trained;
    private Optimizer optimizer = MemorySetup.this.optimizer;
    private boolean copy = MemorySetup.this.copy;
    private Sharding sharding = MemorySetup.this.sharding;
    private Offload offload = MemorySetup.this.offload;
    private int gpus = MemorySetup.this.gpus;
    private int splits = MemorySetup.this.splits;
    private int microBatch = MemorySetup.this.microBatch;
    private boolean recomputes = MemorySetup.this.recomputes;
    private boolean chunkedLoss = MemorySetup.this.chunkedLoss;

    MemorySetup done() {
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
          chunkedLoss,
          bucket,
          teacher);
    }
  }
}
