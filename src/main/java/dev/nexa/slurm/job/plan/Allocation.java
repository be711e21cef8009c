package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import dev.nexa.slurm.job.config.site.NodeSharing;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The resources that Slurm is asked to allocate for one task, and the account to charge.
 *
 * @param fewestNodes the least number of nodes; 0 if Slurm chooses it
 * @param nodes the largest number of nodes
 * @param gpusPerNode GPUs on each node; 0 if ranks run on CPUs, or if the options count the GPUs
 * @param gpuType the GPU type as the cluster names it; empty without GPUs, or if none is named
 * @param cpusPerTask CPUs on each node; of each process if {@link #isSized}
 * @param memoryBytes memory on each node; 0 for all of it, {@link #NOT_BY_NODE} if the options
 *     count the memory
 * @param timeLimit the time limit, a whole number of minutes
 * @param options the options of sbatch that the config or the profile sets
 * @param exclusive whether the config asks for whole nodes
 */
public record Allocation(
    int fewestNodes,
    int nodes,
    int gpusPerNode,
    Optional<String> gpuType,
    int cpusPerTask,
    long memoryBytes,
    Duration timeLimit,
    Map<ResourceOption, String> options,
    boolean exclusive) {
  /** No number of bytes: the memory is not asked for on each node. */
  public static final long NOT_BY_NODE = -1;

  private static final long DEFAULT_MEMORY_PER_CPU = 4L << 30;

  /** Returns the config's resources with the defaults of the partition and the cluster. */
  static Allocation of(
      Resources asked, ClusterProfile cluster, int gpus, Optional<String> partition) {
    List<Partition> known = cluster.known(partition);
    Map<ResourceOption, String> options = new EnumMap<>(ResourceOption.class);
    put(options, ResourceOption.ACCOUNT, cluster.usual().account());
    put(options, ResourceOption.QOS, cluster.usual().qos());
    options.putAll(asked.options());
    put(options, ResourceOption.PARTITION, partition);
    boolean onGpus = cluster.accelerator().equals("cuda");
    boolean counted = false;
    for (ResourceOption option : asked.options().keySet()) {
      counted |= option.countsGpus();
      if (!onGpus && option.countsGpus()) {
        options.remove(option);
      }
    }
    boolean sized = isSized(asked.fewestNodes(), asked.nodes(), options);
    return new Allocation(
        asked.fewestNodes(),
        asked.fewestNodes() == 0 ? mostNodes(asked.nodes(), known) : asked.nodes(),
        gpus,
        // A type that only the profile names is not written beside options that count GPUs.
        gpus > 0 && !counted
            ? gpuType(asked.gpuType(), gpuType(known, cluster))
            : onGpus ? asked.gpuType() : Optional.empty(),
        asked.cpusPerTask(),
        asked.memoryBytes().isPresent()
            ? Memory.wholeMib(asked.memoryBytes().get())
            : sized ? memory(options, known) : defaultMemory(asked, known),
        asked.time(),
        Collections.unmodifiableMap(options),
        asked.exclusive());
  }

  private static void put(
      Map<ResourceOption, String> options, ResourceOption option, Optional<String> value) {
    if (value.isPresent()) {
      options.put(option, value.get());
    }
  }

  private static boolean isSized(int fewest, int nodes, Map<ResourceOption, String> options) {
    boolean sized = fewest != nodes;
    for (ResourceOption option : options.keySet()) {
      sized |= option.sizes();
    }
    return sized;
  }

  /** Returns whether more than nodes, CPUs, GPUs and memory on each node decides the job's size. */
  public boolean isSized() {
    return isSized(fewestNodes, nodes, options);
  }

  /**
   * Returns whether the config says how many processes {@code srun} starts, and on how many nodes;
   * if not, it is one on each node.
   */
  public boolean hasProcesses() {
    boolean has = fewestNodes != nodes;
    for (ResourceOption option : options.keySet()) {
      has |= option.countsProcesses();
    }
    return has;
  }

  /** Returns a copy with the memory and the time limit of a later attempt. */
  Allocation having(AttemptSize size) {
    return new Allocation(
        fewestNodes,
        nodes,
        gpusPerNode,
        gpuType,
        cpusPerTask,
        size.memoryBytes() / nodes,
        Duration.ofSeconds(size.timeLimitSeconds()),
        options,
        exclusive);
  }

  /** Returns an option of sbatch; empty if neither the config nor the profile sets it. */
  public Optional<String> option(ResourceOption option) {
    return Optional.ofNullable(options.get(option));
  }

  public Optional<String> partition() {
    return option(ResourceOption.PARTITION);
  }

  public Optional<String> account() {
    return option(ResourceOption.ACCOUNT);
  }

  /**
   * Returns the GPU type in the cluster's spelling if only the case differs, because Slurm
   * distinguishes case.
   */
  private static Optional<String> gpuType(Optional<String> asked, Optional<String> had) {
    boolean same = asked.isPresent() && had.isPresent() && asked.get().equalsIgnoreCase(had.get());
    return same ? had : either(asked, had);
  }

  /**
   * Returns the partition's GPU type, else the cluster's. Of several partitions, empty if they have
   * different GPUs.
   */
  static Optional<String> gpuType(List<Partition> partitions, ClusterProfile cluster) {
    if (partitions.isEmpty()) {
      return cluster.usual().gpuType();
    }
    Optional<String> type = either(partitions.get(0).gpuType(), cluster.usual().gpuType());
    for (Partition partition : partitions) {
      if (!either(partition.gpuType(), cluster.usual().gpuType()).equals(type)) {
        return Optional.empty();
      }
    }
    return type;
  }

  private static int mostNodes(int asked, List<Partition> partitions) {
    int most = 0;
    for (Partition partition : partitions) {
      most = Math.max(most, partition.maxNodes().orElse(Integer.MAX_VALUE));
    }
    return most == 0 ? asked : Math.min(asked, most);
  }

  /**
   * Returns the partition's default memory, as Slurm would; 4 GiB for each CPU if it has none. Of
   * several partitions, the largest default: it is written into the script.
   */
  private static long defaultMemory(Resources asked, List<Partition> partitions) {
    long most = 0;
    for (Partition partition : partitions) {
      most = Math.max(most, partition.defaultMemoryPerNode().orElse(0L));
    }
    return most > 0
        ? most
        : Math.multiplyExact(defaultMemoryPerCpu(partitions), (long) asked.cpusPerTask());
  }

  private static long defaultMemoryPerCpu(List<Partition> partitions) {
    long most = 0;
    for (Partition partition : partitions) {
      most = Math.max(most, partition.defaultMemoryPerCpu().orElse(0L));
    }
    return most == 0 ? DEFAULT_MEMORY_PER_CPU : most;
  }

  /**
   * Returns the memory on each node of a job whose options decide its size. Without an option for
   * it, the job gets the partition's default, else 4 GiB for each CPU.
   */
  private static long memory(Map<ResourceOption, String> options, List<Partition> partitions) {
    if (options.containsKey(ResourceOption.MEMORY_PER_CPU)
        || options.containsKey(ResourceOption.MEMORY_PER_GPU)) {
      return NOT_BY_NODE;
    }
    for (Partition partition : partitions) {
      if (partition.defaultMemoryPerNode().isPresent()) {
        return partition.defaultMemoryPerNode().get();
      }
    }
    String each = Memory.slurm(defaultMemoryPerCpu(partitions));
    options.put(ResourceOption.MEMORY_PER_CPU, each);
    return NOT_BY_NODE;
  }

  static Optional<String> either(Optional<String> own, Optional<String> other) {
    return own.isPresent() ? own : other;
  }

  /**
   * Returns what a task gets, in words: {@code 2 nodes with 4 h100, 8 CPUs and 16 GiB each, 30
   * minutes, partition gpu}.
   */
  public String words() {
    StringBuilder words = new StringBuilder();
    if (isSized()) {
      words.append(JobSize.of(this).words());
    } else {
      words.append(nodes).append(nodes == 1 ? " node with " : " nodes with ");
      if (gpusPerNode > 0) {
        words.append(gpusPerNode).append(' ').append(gpuType.orElse("GPUs")).append(", ");
      }
      words.append(cpusPerTask).append(cpusPerTask == 1 ? " CPU and " : " CPUs and ");
      words.append(memoryWords()).append(nodes == 1 ? ", " : " each, ");
    }
    words.append(TimeLimit.words(timeLimit));
    if (partition().isPresent()) {
      words.append(", partition ").append(partition().get());
    }
    return words.toString();
  }

  String memoryWords() {
    return memoryBytes == 0 ? "all memory" : Memory.plain(memoryBytes);
  }

  /**
   * Returns why the job gets more CPUs than it asks for: {@code 16 GiB needs 5 CPUs here:
   * MaxMemPerCPU is 4000 MB on partition gpu}.
   */
  String needsCpus(NodeSharing sharing) {
    int cpus = sharing.cpusFor(cpusPerTask, memoryBytes);
    long most = sharing.maxMemoryPerCpu().orElse(0L) >> 20;
    String where = partition().isPresent() ? " on partition " + partition().get() : "";
    return "%s needs %s CPUs here: MaxMemPerCPU is %s MB%s"
        .formatted(Memory.plain(memoryBytes), cpus, most, where);
  }

  /**
   * Returns the manifest's {@code hardware}: {@code 4x h100}, {@code 2x 8 CPUs} or {@code 1 CPU}.
   */
  public String hardware() {
    if (gpusPerNode > 0) {
      return nodes * gpusPerNode + "x " + gpuType.orElse("gpu");
    }
    if (isSized()) {
      return JobSize.of(this).hardware();
    }
    String cpus =
        cpusPerTask == 1 ? "1 CPU" : cpusPerTask + " CPUs"; // Plural is a class more in a submit
    return nodes == 1 ? cpus : nodes + "x " + cpus;
  }
}
