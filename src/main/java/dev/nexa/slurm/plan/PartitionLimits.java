package dev.nexa.slurm.plan;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ClusterProfile.Partition;
import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.config.Written;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.units.Memory;
import dev.nexa.slurm.units.TimeLimit;
import java.util.List;
import java.util.Optional;

/**
 * Whether what is asked for fits the partition, as far as the cluster profile knows it: Slurm would
 * refuse it, or let it wait for ever.
 */
final class PartitionLimits {
  private final ClusterProfile cluster;
  private final Written written;
  private final List<Problem> problems;

  PartitionLimits(ClusterProfile cluster, Written written, List<Problem> problems) {
    this.cluster = cluster;
    this.written = written;
    this.problems = problems;
  }

  /** Tells what does not fit. */
  void check(Allocation asked) {
    Optional<Partition> partition =
        asked.partition().isEmpty()
            ? Optional.empty()
            : Optional.ofNullable(cluster.partitions().get(asked.partition().get()));
    if (asked.partition().isPresent() && partition.isEmpty() && !cluster.partitions().isEmpty()) {
      unknown(asked.partition().get());
    }
    if (cluster.scheduler().equals("slurm")) {
      sized(asked, partition);
    }
    if (partition.isPresent()) {
      fits(asked, partition.get());
    }
  }

  private void unknown(String partition) {
    List<String> names = List.copyOf(cluster.partitions().keySet());
    problem(
        "partition",
        "cluster profile '"
            + cluster.name()
            + "' has no partition '"
            + partition
            + "'"
            + Nearest.hint(partition, names)
            + "; it has "
            + String.join(", ", names));
  }

  /** Whole nodes are paid for, so it must be known how large they are. */
  private void sized(Allocation asked, Optional<Partition> partition) {
    boolean sized =
        partition.isPresent()
            && partition.get().cpusPerNode().isPresent()
            && partition.get().memoryPerNode().isPresent()
            && partition.get().gpusPerNode().isPresent();
    if (asked.exclusive() && !sized) {
      problem(
          "exclusive",
          "whole nodes are paid for, and cluster profile '"
              + cluster.name()
              + "' does not say how large they are; give partitions."
              + asked.partition().orElse("NAME")
              + " cpus_per_node, memory_per_node and gpus_per_node (0 for none)");
    }
  }

  private void fits(Allocation asked, Partition partition) {
    String has = "partition '" + asked.partition().orElseThrow() + "' has ";
    partition
        .gpusPerNode()
        .filter(gpus -> asked.gpusPerNode() > gpus)
        .ifPresent(
            gpus -> problem("gpus_per_node", has + gpus + " GPUs on a node; ask for more nodes"));
    partition
        .gpuType()
        .filter(type -> asked.gpusPerNode() > 0 && !asked.gpuType().orElse(type).equals(type))
        .ifPresent(type -> problem("gpu_type", has + "GPUs of type " + type));
    partition
        .cpusPerNode()
        .filter(cpus -> asked.cpusPerTask() > cpus)
        .ifPresent(cpus -> problem("cpus_per_task", has + cpus + " CPUs on a node"));
    partition
        .memoryPerNode()
        .filter(memory -> asked.memoryBytes() > memory)
        .ifPresent(memory -> problem("memory", has + Memory.words(memory) + "iB on a node"));
    partition
        .maxTime()
        .filter(most -> asked.timeLimit().compareTo(most) > 0)
        .ifPresent(
            most ->
                problem("time", has + "a time limit of " + TimeLimit.format(most) + " (MaxTime)"));
  }

  private void problem(String key, String message) {
    problems.add(written.problem("resources." + key, message));
  }
}
