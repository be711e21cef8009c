package dev.nexa.slurm.job.estimate.model;

import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.run.Workload;
import dev.nexa.slurm.job.config.site.GpuCatalog.Gpu;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Offload;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Optimizer;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Sharding;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Trains;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Weights;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.TrlScript;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The model that a plan trains or serves. Values that the plan does not give are unknown, or are in
 * {@code assumptions}.
 *
 * @param setup the facts about a GPU's memory
 * @param active the parameters that work on one token
 * @param tokens the tokens of all tasks and passes; empty if unknown
 * @param precision {@code bf16}, {@code fp16} or {@code no}
 * @param choices the details of the remedies
 * @param assumptions values that the plan does not give and the estimate assumes
 */
public record ModelRun(
    MemorySetup setup,
    long active,
    Optional<Double> tokens,
    String precision,
    MemoryFit.Choices choices,
    List<String> assumptions) {
  /** DeepSpeed's default of reduce_bucket_size (deepspeed.ai, config-json). */
  private static final long BUCKET = 500_000_000L;

  /** The sequence length of our Axolotl backend without max_length. */
  private static final int AXOLOTL_SEQUENCE = 2048;

  private static final int RANK = 16;
  private static final String CHUNKING =
      "a loss in parts, if the program can compute it so (estimate.chunked_loss: true)";

  /**
   * Returns the model of a plan; empty if the plan gives no size, neither trains nor serves, or has
   * no GPUs.
   */
  public static Optional<ModelRun> of(Plan plan) {
    Plan one = plan.shape().array().points().isEmpty() ? plan : plan.at(0);
    Optional<Long> said = one.training().parameters();
    boolean serves = one.backend().equals("vllm");
    boolean trains =
        List.of("hf", "axolotl", "ax", "accelerate", "acc").contains(one.backend())
            || one.stage().equals("train");
    if (said.isEmpty() || !(serves || trains) || one.allocation().gpusPerNode() == 0) {
      return Optional.empty();
    }
    List<String> assumptions = new ArrayList<>();
    if (!plan.shape().array().points().isEmpty()) {
      assumptions.add("every point of the sweep is like the first");
    }
    Optional<ModelShape> shape =
        ModelShape.of(
            one.training().text("model_name").orElse(""), said.get(), one.inputs().workload());
    if (shape.isPresent() && !shape.get().isTold()) {
      assumptions.add("layers and widths as of " + shape.get().name());
    }
    boolean rounded = shape.isPresent() && shape.get().isRounded(said.get());
    long parameters = rounded ? shape.get().parameters() : said.get();
    return Optional.of(
        serves
            ? serving(one, parameters, shape, assumptions)
            : training(plan, one, parameters, shape, assumptions));
  }

  private static ModelRun training(
      Plan plan, Plan one, long parameters, Optional<ModelShape> shape, List<String> assumptions) {
    Training training = one.training();
    Optional<Workload> told = one.inputs().workload();
    int ranks = Math.max(1, one.shape().ranksPerNode()) * one.allocation().nodes();
    int gpus = one.shape().ranksPerNode() == 0 ? 1 : ranks;
    int rank = training.integer("lora_r").orElse(RANK);
    Optional<TrlScript> trl = TrlScript.of(one);
    boolean adapter = !training.adapter().equals("none");
    long trained = parameters;
    if (adapter) {
      trained = shape.isPresent() ? shape.get().adapter(rank) : 0;
      boolean every = trl.isEmpty() || trl.get().adaptsEveryLayer();
      assumptions.add("adapters at every linear layer" + (every ? "" : ", at most"));
    }
    boolean half = !training.precision().equals("no");
    boolean wide = trl.isPresent() ? trl.get().loadsFp32() : !adapter;
    boolean pure = (told.isPresent() && told.get().pureBf16()) || (trl.isPresent() && !wide);
    Weights weights = wide && (adapter || !half) ? Weights.FP32 : Weights.HALF;
    boolean wideBase = trl.isPresent() && trl.get().loadsFp32(true);
    if (training.adapter().equals("qlora")) {
      weights = Weights.NF4;
    }
    boolean copy = half && !pure && !adapter;
    if (copy && !training.strategy().startsWith("zero")) {
      assumptions.add("the optimizer keeps weights in fp32");
    }
    Optional<Long> teacher = teacher(one);
    MemorySetup setup =
        new MemorySetup(
            new MemorySetup.Model(parameters, shape, teacher.orElse(0L)),
            weights,
            new MemorySetup.Tuning(
                adapter ? Trains.ADAPTER : Trains.ALL, trained, optimizer(told, assumptions), copy),
            new MemorySetup.Spread(
                sharding(training, gpus),
                training.offload().equals("none") ? Offload.NONE : Offload.ALL,
                gpus,
                1,
                BUCKET),
            new MemorySetup.Batch(
                teacher.isEmpty() ? 0 : training.integer("batch_size").orElse(0), sequence(one)),
            recomputes(one, assumptions),
            chunksLoss(told, trl, assumptions));
    assumptions.add("attention in blocks (FlashAttention or PyTorch's own)");
    return new ModelRun(
        setup,
        active(told, parameters),
        tokens(plan, one, setup.batch().sequence()),
        training.precision(),
        new MemoryFit.Choices(
            rank,
            wideBase ? Weights.FP32 : Weights.HALF,
            trl.isPresent() ? trl.get().chunking() : CHUNKING,
            borrowed(one, shape)),
        List.copyOf(assumptions));
  }

  private static ModelRun serving(
      Plan one, long parameters, Optional<ModelShape> shape, List<String> assumptions) {
    int all = one.allocation().gpusPerNode() * one.allocation().nodes();
    int copies = (int) Math.max(1, number(one, "data_parallel_size", 1));
    int splits = (int) number(one, "tensor_parallel_size", Math.max(1, all / copies));
    splits *= (int) number(one, "pipeline_parallel_size", 1);
    int sequence =
        (int) number(one, "max_model_len", one.training().integer("max_length").orElse(0));
    assumptions.add("weights in 16 bits");
    assumptions.add("the cache of one request of full length; vLLM gives the rest to more");
    MemorySetup setup =
        new MemorySetup(
            new MemorySetup.Model(parameters, shape, 0),
            Weights.HALF,
            new MemorySetup.Tuning(Trains.NOTHING, 0, Optimizer.ADAMW, false),
            new MemorySetup.Spread(Sharding.NONE, Offload.NONE, all, splits, 0),
            new MemorySetup.Batch(1, sequence),
            false,
            false);
    return new ModelRun(
        setup,
        active(one.inputs().workload(), parameters),
        one.inputs().workload().flatMap(Workload::tokens).map(count -> (double) count),
        "bf16",
        new MemoryFit.Choices(RANK, Weights.HALF, CHUNKING, borrowed(one, shape)),
        List.copyOf(assumptions));
  }

  private static Optional<String> borrowed(Plan one, Optional<ModelShape> shape) {
    String model = one.training().text("model_name").orElse("");
    return shape.filter(known -> !known.isOf(model)).map(ModelShape::name);
  }

  private static long active(Optional<Workload> told, long parameters) {
    return told.isPresent() ? told.get().activeParameters().orElse(parameters) : parameters;
  }

  private static int sequence(Plan one) {
    int otherwise = one.backend().startsWith("ax") ? AXOLOTL_SEQUENCE : 0;
    return one.training().integer("max_length").orElse(otherwise);
  }

  private static Optimizer optimizer(Optional<Workload> told, List<String> assumptions) {
    if (told.isEmpty()) {
      assumptions.add("AdamW");
      return Optimizer.ADAMW;
    }
    return Optimizer.valueOf(told.get().optimizer().toUpperCase(Locale.ROOT));
  }

  /**
   * Returns whether activations are recomputed. By default TRL's SFTConfig does, Axolotl does not.
   */
  private static boolean recomputes(Plan one, List<String> assumptions) {
    Optional<Workload> told = one.inputs().workload();
    if (told.isPresent() && told.get().gradientCheckpointing().isPresent()) {
      return told.get().gradientCheckpointing().get();
    }
    Optional<TrlScript> trl = TrlScript.of(one);
    Optional<Object> said =
        trl.isPresent()
            ? trl.get().said("gradient_checkpointing")
            : Optional.ofNullable(one.options().members().get("gradient_checkpointing"));
    if (said.isPresent() && said.get() instanceof Boolean recomputes) {
      return recomputes;
    }
    assumptions.add(
        trl.isPresent() ? "activations are computed again, TRL's default" : "no recomputation");
    return trl.isPresent();
  }

  /** Returns whether the loss is computed in parts: as the config says, else as the runner does. */
  private static boolean chunksLoss(
      Optional<Workload> told, Optional<TrlScript> trl, List<String> assumptions) {
    Optional<Boolean> said = told.flatMap(Workload::chunkedLoss);
    boolean chunks = said.orElse(trl.isPresent() && trl.get().chunksLoss());
    if (said.isEmpty() && chunks && trl.isPresent() && trl.get().said("loss_type").isEmpty()) {
      assumptions.add("a loss in parts, TRL's default");
    }
    return chunks;
  }

  private static Sharding sharding(Training training, int gpus) {
    return switch (training.strategy()) {
      case "fsdp" -> training.reshards() ? Sharding.FULL_SHARD : Sharding.SHARD_GRAD_OP;
      case "zero1" -> Sharding.ZERO1;
      case "zero2" -> Sharding.ZERO2;
      case "zero3" -> Sharding.ZERO3;
      default -> gpus > 1 ? Sharding.DDP : Sharding.NONE;
    };
  }

  /**
   * Returns the parameters of a teacher on the same GPU. TRL runs the teacher beside the student;
   * Axolotl reads its recorded output. Empty if the size is unknown: then no run certainly fits.
   */
  private static Optional<Long> teacher(Plan one) {
    boolean beside = one.training().flag("use_kd") && !one.backend().startsWith("ax");
    return beside ? one.training().teacherParameters() : Optional.of(0L);
  }

  private static Optional<Double> tokens(Plan plan, Plan one, int sequence) {
    Optional<Workload> told = one.inputs().workload();
    Optional<Double> tokens = told.flatMap(Workload::tokens).map(count -> (double) count);
    Optional<Double> examples = told.flatMap(Workload::examples).map(count -> (double) count);
    double epochs = one.training().decimal("epochs").orElse(BigDecimal.ONE).doubleValue();
    int tasks = plan.shape().array().points().isEmpty() ? 1 : plan.tasks();
    return tokens
        .or(() -> examples.filter(count -> sequence > 0).map(count -> count * sequence))
        .map(pass -> pass * epochs * tasks);
  }

  private static long number(Plan plan, String option, long otherwise) {
    Object value = plan.options().members().get(option);
    Object dashed = plan.options().members().get(option.replace('_', '-'));
    Object said = value == null ? dashed : value;
    return said instanceof Number number ? number.longValue() : otherwise;
  }

  /** Returns whether the run fits the GPU's memory; empty if that is unknown. */
  public Optional<MemoryFit> memory(Gpu gpu) {
    return gpu.memoryBytes().flatMap(bytes -> MemoryFit.of(setup, bytes, choices, assumptions));
  }

  /**
   * Returns the GPU-hours of all tasks; empty if tokens, precision or the GPU's peak are unknown.
   */
  public Optional<AnalyticEstimate> expected(Gpu gpu, Mfu mfu) {
    Optional<Double> peak = gpu.flops(precision);
    if (tokens.isEmpty() || peak.isEmpty()) {
      return Optional.empty();
    }
    if (setup.tuning().trains() == Trains.NOTHING) {
      return DecodeSpeed.of(this, gpu).map(speed -> speed.estimate(tokens.get(), this));
    }
    return Optional.of(AnalyticEstimate.of(flops() * tokens.get(), peak.get(), mfu, assumptions));
  }

  /** Returns the operations for one token. */
  double flops() {
    double attention = 0;
    if (setup.model().shape().isPresent()) {
      ModelShape shape = setup.model().shape().get();
      attention = 2.0 * shape.layers() * shape.hidden() * setup.batch().sequence();
    }
    return new TrainingFlops(
            active,
            setup.tuning().trains(),
            setup.tuning().trained(),
            setup.recomputes(),
            setup.model().teacher(),
            attention)
        .perToken();
  }
}
