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

  /** This setup with some of it changed: the one place that lists what can be. */
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
