package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ClusterProfile.Partition;
import dev.nexa.slurm.config.ConfigException;
import dev.nexa.slurm.config.GpuCatalog;
import dev.nexa.slurm.config.GpuCatalog.Gpu;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Comparison;
import dev.nexa.slurm.estimate.Expected;
import dev.nexa.slurm.estimate.Offer;
import dev.nexa.slurm.estimate.TimeLimitAdvice;
import dev.nexa.slurm.estimate.analytic.MemoryFit;
import dev.nexa.slurm.plan.Allocation;
import dev.nexa.slurm.scheduler.ExpectedStart;
import dev.nexa.slurm.units.Memory;
import dev.nexa.slurm.units.Money;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * {@code estimate --compare}: the same job on each partition, GPU type and GPU count of the cluster
 * profile. Each offer is planned and priced as if its {@code --set} had been typed.
 */
public final class CompareEstimates {
  /** GPUs are compared from so many times fewer to so many times more. */
  private static final int RANGE = 4;

  /** GPUs of a node where the profile does not say. */
  private static final int USUAL_GPUS = 8;

  private final Nexa nexa;
  private final Prepared.Request request;
  private final Prepared base;
  private final Allocation asked;
  private final ClusterProfile cluster;
  private final GpuCatalog gpus;
  private final ExpectStart starts;

  public CompareEstimates(Nexa nexa, Prepared.Request request) {
    this.nexa = nexa;
    this.request = request;
    this.base = Prepared.of(nexa, request);
    this.asked = base.plan().allocation();
    this.cluster = nexa.configs().cluster(base.plan().cluster());
    this.gpus = nexa.configs().gpus();
    this.starts = new ExpectStart(nexa);
  }

  /** What was asked for. */
  public Prepared base() {
    return base;
  }

  public Comparison compare() {
    List<Offer> offers = new ArrayList<>();
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
    offers.sort(Comparator.comparing(CompareEstimates::place).thenComparing(Offer::dearness));
    Optional<TimeLimitAdvice> shorter =
        TimeLimitAdvice.of(base.plan(), base.outlook(), base.estimate().rates());
    return new Comparison(offers, shorter, shorter.map(this::total));
  }

  /** What was asked for, what can be compared, what can be had, the rest. */
  private static int place(Offer offer) {
    boolean good = offer.comparable() && offer.tooLarge().isEmpty();
    return offer.asked() ? 0 : offer.misfit().isEmpty() ? (good ? 1 : 2) : 3;
  }

  private Money total(TimeLimitAdvice shorter) {
    return prepared(List.of("resources.time=" + shorter.limitSeconds() / 60 + "m"))
        .estimate()
        .total();
  }

  /** A partition, or no particular one. */
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

  private void offersOf(Place place, List<Offer> offers) {
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

  private void add(Place place, Optional<String> type, int nodes, int gpus, List<Offer> offers) {
    boolean same =
        nodes == asked.nodes()
            && gpus == asked.gpusPerNode()
            && type.equals(asked.gpuType())
            && place.name.equals(asked.partition());
    if (same) {
      return;
    }
    List<String> set = new ArrayList<>();
    place.name.ifPresent(name -> set.add("resources.partition=" + name));
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
      offers.add(Offer.misfit(place.name.orElse(""), hardware, nodes, set, why(misfit)));
    }
  }

  private static String why(NexaException misfit) {
    return misfit instanceof ConfigException config
        ? config.problems().get(0).message()
        : String.valueOf(misfit.getMessage());
  }

  /** A GPU keeps its share of the CPUs and the memory, as far as a node has them. */
  private long share(long ofNode, int gpus) {
    return Math.max(1, (ofNode * gpus + asked.gpusPerNode() - 1) / asked.gpusPerNode());
  }

  private Prepared prepared(List<String> set) {
    List<String> overrides = new ArrayList<>(request.overrides());
    overrides.addAll(set);
    return Prepared.of(
        nexa,
        new Prepared.Request(
            request.config(),
            overrides,
            request.cluster(),
            request.from(),
            request.sameNode(),
            request.serves()));
  }

  private Offer offer(
      Prepared there, List<String> set, Optional<Expected> expected, boolean comparable) {
    ExpectedStart start = starts.of(there.plan());
    return new Offer(
        there.plan().allocation().partition().orElse(""),
        there.plan().allocation().hardware(),
        there.plan().allocation().nodes(),
        set.isEmpty(),
        set,
        "",
        tooLarge(there),
        there.plan().allocation().timeLimit().toSeconds(),
        Optional.of(there.estimate().total()),
        expected,
        comparable || expected.isPresent(),
        start.at(),
        start.why());
  }

  private static String tooLarge(Prepared there) {
    Optional<MemoryFit> memory = there.model().flatMap(ModelNumbers::memory);
    boolean fits = memory.isEmpty() || memory.get().fits().orElse(true);
    return fits ? "" : memory.get().sentence();
  }

  /**
   * How many times as long a task takes there: as many times as it has fewer GPUs, by their peak
   * where they are of another type; empty where that is not known.
   */
  private Optional<Double> slower(Optional<String> type, int gpus) {
    if (gpus == 0) {
      return Optional.of(1.0);
    }
    double count = (double) (asked.nodes() * asked.gpusPerNode()) / gpus;
    if (type.equals(asked.gpuType())) {
      return Optional.of(count);
    }
    Optional<Double> here = peak(asked.gpuType());
    Optional<Double> there = peak(type);
    return here.isEmpty() || there.isEmpty()
        ? Optional.empty()
        : Optional.of(count * here.get() / there.get());
  }

  /** Dense FLOP/s of a GPU of that type, in 16 bits, where the catalog tells. */
  private Optional<Double> peak(Optional<String> type) {
    Optional<Gpu> gpu = type.isEmpty() ? Optional.empty() : gpus.find(type.get());
    return gpu.flatMap(Gpu::bf16Flops).or(() -> gpu.flatMap(Gpu::fp16Flops));
  }

  /** By its own past runs or arithmetic; else by what is expected of what was asked for. */
  private Optional<Expected> expected(Prepared there, Optional<Double> slower) {
    Optional<Expected> own = there.outlook().expected();
    boolean sameGpus = there.outlook().history().map(past -> past.onSameGpus()).orElse(true);
    if (own.isPresent() && sameGpus) {
      return own;
    }
    Optional<Expected> here = base.outlook().expected();
    if (here.isEmpty() || slower.isEmpty() || here.get().runSeconds() == 0) {
      return Optional.empty();
    }
    return Optional.of(
        Expected.of(
            here.get().method(),
            there.plan(),
            there.estimate(),
            (long) Math.ceil(here.get().runSeconds() * slower.get()),
            (long) Math.ceil(here.get().runSeconds() * slower.get()),
            (long) Math.ceil(here.get().highSeconds() * slower.get()),
            here.get().basis() + ", scaled by the GPUs' number and peak",
            here.get().runs()));
  }
}
