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
import java.util.Map;
import java.util.Optional;

/**
 * The resources that Slurm is asked to allocate for one task, and the account to charge.
 *
 * @param nodes the number of nodes
 * @param gpusPerNode GPUs on each node; 0 if ranks run on CPUs
 * @param gpuType the GPU type as the cluster names it; empty without GPUs, or if none is named
 * @param cpusPerTask CPUs on each node
 * @param memoryBytes memory on each node
 * @param timeLimit the time limit, a whole number of minutes
 * @param options the options of sbatch that the config or the profile sets
 * @param exclusive whether the config asks for whole nodes
 */
public record Allocation(
    int nodes,
    int gpusPerNode,
    Optional<String> gpuType,
    int cpusPerTask,
    long memoryBytes,
    Duration timeLimit,
    Map<ResourceOption, String> options,
    boolean exclusive) {
  private static final long DEFAULT_MEMORY_PER_CPU = 4L << 30;

  /** Returns the config's resources with the defaults of the partition and the cluster. */
  static Allocation of(
      Resources asked, ClusterProfile cluster, int gpus, Optional<String> partition) {
    Optional<Partition> known =
        partition.isEmpty()
            ? Optional.empty()
            : Optional.ofNullable(cluster.partitions().get(partition.get()));
    Map<ResourceOption, String> options = new EnumMap<>(ResourceOption.class);
    put(options, ResourceOption.ACCOUNT, cluster.usual().account());
    put(options, ResourceOption.QOS, cluster.usual().qos());
    options.putAll(asked.options());
    put(options, ResourceOption.PARTITION, partition);
    return new Allocation(
        asked.nodes(),
        gpus,
        gpus > 0 ? gpuType(asked.gpuType(), gpuType(known, cluster)) : Optional.empty(),
        asked.cpusPerTask(),
        asked.memoryBytes().isPresent() ? asked.memoryBytes().get() : memory(asked, known),
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

  /** Returns a copy with the memory and the time limit of a later attempt. */
  Allocation having(AttemptSize size) {
    return new Allocation(
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

  /** Returns the partition's GPU type, else the cluster's. */
  static Optional<String> gpuType(Optional<Partition> partition, ClusterProfile cluster) {
    return partition.isPresent()
        ? either(partition.get().gpuType(), cluster.usual().gpuType())
        : cluster.usual().gpuType();
  }

  /** Returns the partition's default memory, as Slurm would; 4 GiB for each CPU if it has none. */
  private static long memory(Resources asked, Optional<Partition> partition) {
    if (partition.isPresent() && partition.get().defaultMemoryPerNode().isPresent()) {
      return partition.get().defaultMemoryPerNode().get();
    }
    Optional<Long> perCpu =
        partition.isPresent() ? partition.get().defaultMemoryPerCpu() : Optional.empty();
    return Math.multiplyExact(
        perCpu.isPresent() ? perCpu.get() : DEFAULT_MEMORY_PER_CPU, (long) asked.cpusPerTask());
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
    words.append(nodes).append(nodes == 1 ? " node with " : " nodes with ");
    if (gpusPerNode > 0) {
      words.append(gpusPerNode).append(' ').append(gpuType.orElse("GPUs")).append(", ");
    }
    words.append(cpusPerTask).append(cpusPerTask == 1 ? " CPU and " : " CPUs and ");
    words.append(Memory.plain(memoryBytes)).append(nodes == 1 ? ", " : " each, ");
    words.append(TimeLimit.words(timeLimit));
    if (partition().isPresent()) {
      words.append(", partition ").append(partition().get());
    }
    return words.toString();
  }

  /**
   * Returns why the job gets more CPUs than it asks for: {@code 16 GiB needs 5 CPUs here:
   * MaxMemPerCPU is 4000 MB on partition gpu}.
   */
  String needsCpus(NodeSharing sharing) {
    return Memory.plain(memoryBytes)
        + " needs "
        + sharing.cpusFor(cpusPerTask, memoryBytes)
        + " CPUs here: MaxMemPerCPU is "
        + (sharing.maxMemoryPerCpu().orElse(0L) >> 20)
        + " MB"
        + (partition().isPresent() ? " on partition " + partition().get() : "");
  }

  /**
   * Returns the manifest's {@code hardware}: {@code 4x h100}, {@code 2x 8 CPUs} or {@code 1 CPU}.
   */
  public String hardware() {
    if (gpusPerNode > 0) {
      return nodes * gpusPerNode + "x " + gpuType.orElse("gpu");
    }
    String cpus =
        cpusPerTask == 1 ? "1 CPU" : cpusPerTask + " CPUs"; // Plural is a class more in a submit
    return nodes == 1 ? cpus : nodes + "x " + cpus;
  }
}
