package dev.nexa.slurm.plan;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ClusterProfile.Partition;
import dev.nexa.slurm.config.RunConfig.Resources;
import java.time.Duration;
import java.util.Optional;

/**
 * What Slurm is asked to allocate for one task, and what it will charge to.
 *
 * @param gpusPerNode GPUs asked for on each node; 0 where ranks run on CPUs
 * @param gpuType their type as the cluster names it
 * @param cpusPerTask CPUs on each node
 * @param memoryBytes memory on each node
 * @param timeLimit a whole number of minutes
 */
public record Allocation(
    int nodes,
    int gpusPerNode,
    Optional<String> gpuType,
    int cpusPerTask,
    long memoryBytes,
    Duration timeLimit,
    Optional<String> partition,
    Optional<String> account,
    Optional<String> qos,
    Optional<String> constraint,
    Optional<String> reservation,
    Optional<String> nodelist,
    boolean exclusive) {
  private static final long DEFAULT_MEMORY_PER_CPU = 4L << 30;

  /** What is asked for, with what the partition and the cluster add to it. */
  static Allocation of(
      Resources asked, ClusterProfile cluster, int gpus, Optional<String> partition) {
    Optional<Partition> known =
        partition.isEmpty()
            ? Optional.empty()
            : Optional.ofNullable(cluster.partitions().get(partition.get()));
    return new Allocation(
        asked.nodes(),
        gpus,
        gpus > 0 ? gpuType(asked.gpuType(), gpuType(known, cluster)) : Optional.empty(),
        asked.cpusPerTask(),
        asked.memoryBytes().isPresent() ? asked.memoryBytes().get() : memory(asked, known),
        asked.time(),
        partition,
        either(asked.account(), cluster.account()),
        either(asked.qos(), cluster.qos()),
        asked.constraint(),
        asked.reservation(),
        asked.nodelist(),
        asked.exclusive());
  }

  /** As the cluster spells it, where only upper and lower case differ: Slurm tells them apart. */
  private static Optional<String> gpuType(Optional<String> asked, Optional<String> had) {
    boolean same = asked.isPresent() && had.isPresent() && asked.get().equalsIgnoreCase(had.get());
    return same ? had : either(asked, had);
  }

  /** The partition's, then the cluster's. */
  static Optional<String> gpuType(Optional<Partition> partition, ClusterProfile cluster) {
    return partition.isPresent()
        ? either(partition.get().gpuType(), cluster.gpuType())
        : cluster.gpuType();
  }

  /** The partition's default, as Slurm would take it; 4 GiB for each CPU where it has none. */
  private static long memory(Resources asked, Optional<Partition> partition) {
    if (partition.isPresent() && partition.get().defaultMemoryPerNode().isPresent()) {
      return partition.get().defaultMemoryPerNode().get();
    }
    Optional<Long> perCpu =
        partition.isPresent() ? partition.get().defaultMemoryPerCpu() : Optional.empty();
    return Math.multiplyExact(
        perCpu.isPresent() ? perCpu.get() : DEFAULT_MEMORY_PER_CPU, (long) asked.cpusPerTask());
  }

  private static Optional<String> either(Optional<String> own, Optional<String> other) {
    return own.isPresent() ? own : other;
  }

  /** {@code 4x h100}, {@code 2x 8 CPUs}, {@code 1 CPU}: the manifest's `hardware`. */
  public String hardware() {
    if (gpusPerNode > 0) {
      return nodes * gpusPerNode + "x " + gpuType.orElse("gpu");
    }
    String cpus = cpusPerTask == 1 ? "1 CPU" : cpusPerTask + " CPUs";
    return nodes == 1 ? cpus : nodes + "x " + cpus;
  }
}
