package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import dev.nexa.slurm.job.config.site.GpuCatalog;
import dev.nexa.slurm.job.config.site.GpuCatalog.Gpu;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.estimate.Comparison;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.Expected;
import dev.nexa.slurm.job.estimate.PartitionOffer;
import dev.nexa.slurm.job.estimate.TimeLimitAdvice;
import dev.nexa.slurm.job.estimate.model.MemoryFit;
import dev.nexa.slurm.job.plan.Allocation;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.ExpectStart;
import dev.nexa.slurm.run.start.LivePartitions;
import dev.nexa.slurm.run.start.ModelNumbers;
import dev.nexa.slurm.run.start.Prepared;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Implements {@code estimate --compare}: prices the same job on each partition, GPU type and GPU
 * count of the cluster profile. Each offer is planned as if its {@code --set} options had been
 * typed.
 */
public final class CompareEstimates {
  /** GPU counts are compared from this factor fewer to this factor more. */
  private static final int RANGE = 4;

  /** The number of GPUs of a node if the profile gives none. */
  private static final int USUAL_GPUS = 8;

  private final Context context;
  private final Prepared.Request request;
  private final LivePartitions live;
  private final Prepared base;
  private final Allocation asked;
  private final ClusterProfile cluster;
  private final GpuCatalog gpus;
  private final ExpectStart starts;

  public CompareEstimates(Context context, Prepared.Request request) {
    this.context = context;
    this.request = request;
    this.live = new LivePartitions(context);
    this.base = Prepared.of(context, context.configs(), live, request);
    this.asked = base.plan().allocation();
    this.cluster = context.configs().cluster(base.plan().site().cluster());
    this.gpus = context.configs().gpus();
    this.starts = new ExpectStart(context);
  }

  /** Returns the job as the user requested it. */
  public Prepared base() {
    return base;
  }

  /**
   * Returns the offers. The requested job comes first, then comparable offers, the cheapest first.
   */
  public Comparison compare() {
    List<PartitionOffer> offers = new ArrayList<>();
    offers.add(offer(base, List.of(), base.outlook().expected(), true));
    for (Map.Entry<String, Partition> partition : cluster.partitions().entrySet()) {
      if (!partition.getValue().byNameOnly()) {
        Place place = new Place(Optional.of(partition.getKey()), Optional.of(partition.getValue()));
        offersOf(place, offers);
      }
    }
    if (cluster.partitions().isEmpty()) {
      offersOf(Place.ANY, offers);
    }
    offers.sort(
        Comparator.comparing(CompareEstimates::place).thenComparing(PartitionOffer::dearness));
    Optional<TimeLimitAdvice> shorter =
        TimeLimitAdvice.of(base.plan(), base.outlook(), base.estimate().rates());
    return new Comparison(offers, shorter, shorter.map(this::total));
  }

  /**
   * Orders offers: the requested job, comparable offers, other possible offers, impossible offers.
   */
  private static int place(PartitionOffer offer) {
    boolean good = offer.comparable() && offer.tooLarge().isEmpty();
    return offer.asked() ? 0 : offer.misfit().isEmpty() ? (good ? 1 : 2) : 3;
  }

  private Money total(TimeLimitAdvice shorter) {
    return prepared(List.of("resources.time=" + shorter.limitSeconds() / 60 + "m"))
        .estimate()
        .total();
  }

  /** A partition; without a name, any partition. */
  private record Place(Optional<String> name, Optional<Partition> known) {
    static final Place ANY = new Place(Optional.empty(), Optional.empty());

    long cpus() {
      return known.flatMap(Partition::cpusPerNode).orElse(Integer.MAX_VALUE);
    }

    long memoryBytes() {
      return known.flatMap(Partition::memoryPerNode).orElse(Long.MAX_VALUE);
    }

    int gpus() {
      return known.flatMap(Partition::gpusPerNode).orElse(USUAL_GPUS);
    }
  }

  private void offersOf(Place place, List<PartitionOffer> offers) {
    if (asked.gpusPerNode() == 0) {
      add(place, Optional.empty(), asked.nodes(), 0, offers);
      return;
    }
    if (place.gpus() == 0) {
      return;
    }
    Optional<String> type = place.known.flatMap(Partition::gpuType).or(asked::gpuType);
    int all = asked.nodes() * asked.gpusPerNode();
    TreeSet<Integer> counts = new TreeSet<>();
    for (int count = all; count >= 1 && count >= all / RANGE; count /= 2) {
      counts.add(count);
    }
    for (int count = all; count <= all * RANGE; count *= 2) {
      counts.add(count);
    }
    for (int count : counts) {
      int nodes = (count + place.gpus() - 1) / place.gpus();
      if (count % nodes == 0) {
        add(place, type, nodes, count / nodes, offers);
      }
    }
  }

  private void add(
      Place place, Optional<String> type, int nodes, int gpus, List<PartitionOffer> offers) {
    if (nodes == asked.nodes()
        && gpus == asked.gpusPerNode()
        && type.equals(asked.gpuType())
        && place.name.equals(asked.partition())) {
      return;
    }
    List<String> set = new ArrayList<>();
    place.name.ifPresent(name -> set.add("resources.partition=" + name));
    String precision = base.plan().training().precision();
    if (gpus > 0 && lacks(type, precision)) {
      String hardware = nodes * gpus + "x " + type.orElseThrow();
      String why = type.orElseThrow() + " has no " + precision + " (configs/gpus.yaml)";
      PartitionOffer.Where where = new PartitionOffer.Where(place.name.orElse(""), hardware, nodes);
      offers.add(PartitionOffer.misfit(where, set, why));
      return;
    }
    if (gpus > 0) {
      type.ifPresent(name -> set.add("resources.gpu_type=" + name));
      set.add("resources.nodes=" + nodes);
      set.add("resources.gpus_per_node=" + gpus);
      long cpus = Math.min(place.cpus(), share(asked.cpusPerTask(), gpus));
      long memory = Math.min(place.memoryBytes(), share(asked.memoryBytes(), gpus));
      set.add("resources.cpus_per_task=" + cpus);
      set.add("resources.memory=" + Memory.slurm(memory));
    }
    Optional<Double> slower = slower(type, nodes * gpus);
    long limit = asked.timeLimit().toSeconds();
    if (slower.isPresent()) {
      limit = Math.max(1, (long) Math.ceil(limit * slower.get() / 60)) * 60;
    }
    set.add("resources.time=" + limit / 60 + "m");
    try {
      Prepared there = prepared(set);
      offers.add(offer(there, set, expected(there, slower), slower.isPresent()));
    } catch (NexaException misfit) {
      String hardware = gpus == 0 ? asked.hardware() : nodes * gpus + "x " + type.orElse("gpu");
      PartitionOffer.Where where = new PartitionOffer.Where(place.name.orElse(""), hardware, nodes);
      offers.add(PartitionOffer.misfit(where, set, why(misfit)));
    }
  }

  private static String why(NexaException misfit) {
    return misfit instanceof ConfigException config
        ? config.problems().get(0).message()
        : String.valueOf(misfit.getMessage());
  }

  /** Scales CPUs or memory with the GPUs, so that each GPU keeps its share. */
  private long share(long ofNode, int gpus) {
    return Math.max(1, (ofNode * gpus + asked.gpusPerNode() - 1) / asked.gpusPerNode());
  }

  private Prepared prepared(List<String> set) {
    List<String> overrides = new ArrayList<>(request.overrides());
    overrides.addAll(set);
    return Prepared.of(context, context.configs(), live, request.with(overrides));
  }

  private PartitionOffer offer(
      Prepared there, List<String> set, Optional<Expected> expected, boolean comparable) {
    ExpectedStart start = starts.of(there.plan());
    Allocation allocation = there.plan().allocation();
    return new PartitionOffer(
        new PartitionOffer.Where(
            allocation.partition().orElse(""), allocation.hardware(), allocation.nodes()),
        set.isEmpty(),
        set,
        "",
        tooLarge(there),
        allocation.timeLimit().toSeconds(),
        Optional.of(there.estimate().total()),
        CostLine.unrounded(there.estimate().reservation()),
        expected,
        comparable || expected.isPresent(),
        start.at(),
        start.why());
  }

  private static String tooLarge(Prepared there) {
    Optional<MemoryFit> memory = there.model().flatMap(ModelNumbers::memory);
    return memory.filter(fit -> !fit.fits().orElse(true)).map(MemoryFit::sentence).orElse("");
  }

  /**
   * Returns how many times longer a task takes with other GPUs.
   *
   * <p>The factor is the ratio of the GPU counts and, for another GPU type, of the GPUs' peak
   * rates; empty if a peak rate is unknown.
   */
  private Optional<Double> slower(Optional<String> type, int gpus) {
    if (gpus == 0) {
      return Optional.of(1.0);
    }
    double count = (double) (asked.nodes() * asked.gpusPerNode()) / gpus;
    if (type.equals(asked.gpuType())) {
      return Optional.of(count);
    }
    String precision = base.plan().training().precision();
    return peak(asked.gpuType(), precision)
        .flatMap(here -> peak(type, precision).map(there -> count * here / there));
  }

  /** Returns whether the catalog has a peak of the GPU type, but none in the run's precision. */
  private boolean lacks(Optional<String> type, String precision) {
    return !precision.equals("no")
        && peak(type, "no").isPresent()
        && peak(type, precision).isEmpty();
  }

  /**
   * Returns the dense FLOP/s of a GPU type in a precision of 16 bits, or in either of the two for
   * {@code no}; empty if the catalog has none.
   */
  private Optional<Double> peak(Optional<String> type, String precision) {
    Optional<Gpu> gpu = type.flatMap(gpus::find);
    return precision.equals("no")
        ? gpu.flatMap(Gpu::bf16Flops).or(() -> gpu.flatMap(Gpu::fp16Flops))
        : gpu.flatMap(known -> known.flops(precision));
  }

  /**
   * Returns the offer's own expected cost; else the requested job's expected cost, scaled by {@code
   * slower}.
   */
  private Optional<Expected> expected(Prepared there, Optional<Double> slower) {
    Optional<Expected> own = there.outlook().expected();
    boolean sameGpus = there.outlook().history().map(past -> past.onSameGpus()).orElse(true);
    if (own.isPresent() && sameGpus) {
      return own;
    }
    Optional<Expected> here = base.outlook().expected();
    if (here.isEmpty() || slower.isEmpty() || here.get().neededSeconds() == 0) {
      return Optional.empty();
    }
    return Optional.of(
        Expected.of(
            here.get().method(),
            there.plan(),
            there.estimate(),
            (long) Math.ceil(here.get().neededSeconds() * here.get().lowShare() * slower.get()),
            (long) Math.ceil(here.get().neededSeconds() * slower.get()),
            (long) Math.ceil(here.get().neededHighSeconds() * slower.get()),
            here.get().basis() + ", scaled by the GPUs' number and peak",
            here.get().runs()));
  }
}
