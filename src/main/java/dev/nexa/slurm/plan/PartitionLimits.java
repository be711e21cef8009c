package dev.nexa.slurm.plan;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ClusterProfile.Partition;
import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.config.Written;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.units.Memory;
import dev.nexa.slurm.units.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether what is asked for fits a partition, as far as the cluster profile knows it: Slurm would
 * refuse it, or let it wait for ever.
 */
final class PartitionLimits {
  private final ClusterProfile cluster;

  PartitionLimits(ClusterProfile cluster) {
    this.cluster = cluster;
  }

  /**
   * Something that does not fit.
   *
   * @param key of {@code resources}, what is asked for
   * @param has what the partition has instead: {@code 8 GPUs on a node}
   * @param message the same as a sentence, with what to do
   */
  record Misfit(String key, String has, String message) {}

  /** Tells what does not fit the partition that the job goes to. */
  void check(Allocation asked, Written written, List<Problem> problems) {
    String name = asked.partition().orElse("");
    Partition partition = cluster.partitions().get(name);
    if (partition != null) {
      for (Misfit misfit : misfits(name, partition, asked)) {
        problems.add(written.problem("resources." + misfit.key(), misfit.message()));
      }
      return;
    }
    if (!name.isEmpty() && !cluster.partitions().isEmpty()) {
      problems.add(written.problem("resources.partition", unknown(name)));
    }
    if (asked.exclusive() && cluster.scheduler().equals("slurm")) {
      problems.add(written.problem("resources.exclusive", unsized(name.isEmpty() ? "NAME" : name)));
    }
  }

  private String unknown(String partition) {
    List<String> names = List.copyOf(cluster.partitions().keySet());
    return "cluster profile '"
        + cluster.name()
        + "' has no partition '"
        + partition
        + "'"
        + Nearest.hint(partition, names)
        + "; it has "
        + String.join(", ", names);
  }

  private String unsized(String partition) {
    return "whole nodes are paid for, and cluster profile '"
        + cluster.name()
        + "' does not say how large they are; give partitions."
        + partition
        + " cpus_per_node, memory_per_node and gpus_per_node (0 for none)";
  }

  /** All that does not fit; a limit that the profile does not know fits everything. */
  List<Misfit> misfits(String name, Partition partition, Allocation asked) {
    List<Misfit> misfits = new ArrayList<>();
    if (asked.exclusive() && cluster.scheduler().equals("slurm") && !partition.sized()) {
      misfits.add(new Misfit("exclusive", has("exclusive", partition).orElse(""), unsized(name)));
    }
    if (above(asked.nodes(), partition.maxNodes())) {
      add(misfits, "nodes", name, partition, "");
    }
    if (above(asked.gpusPerNode(), partition.gpusPerNode())) {
      boolean some = partition.gpusPerNode().orElse(0) > 0;
      add(misfits, "gpus_per_node", name, partition, some ? "; ask for more nodes" : "");
    }
    if (asked.gpusPerNode() > 0 && differ(asked.gpuType(), partition.gpuType())) {
      add(misfits, "gpu_type", name, partition, "");
    }
    if (above(asked.cpusPerTask(), partition.cpusPerNode())) {
      add(misfits, "cpus_per_task", name, partition, "");
    }
    Optional<Long> memory = partition.memoryPerNode();
    if (memory.isPresent() && asked.memoryBytes() > memory.get()) {
      add(misfits, "memory", name, partition, "");
    }
    Optional<Duration> most = partition.maxTime();
    if (most.isPresent() && asked.timeLimit().compareTo(most.get()) > 0) {
      add(misfits, "time", name, partition, "");
    }
    return misfits;
  }

  private static void add(
      List<Misfit> misfits, String key, String name, Partition partition, String advice) {
    String has = has(key, partition).orElse("");
    String type = key.equals("gpu_type") ? "GPUs of type " : "";
    misfits.add(new Misfit(key, has, "partition '" + name + "' has " + type + has + advice));
  }

  /** What the partition has where {@code resources.KEY} is asked for; empty where nobody knows. */
  static Optional<String> has(String key, Partition partition) {
    return switch (key) {
      case "exclusive" ->
          Optional.of(partition.sized() ? "nodes of known size" : "nodes of unknown size");
      case "nodes" -> counted(partition.maxNodes(), " nodes for a job at most");
      case "gpus_per_node" ->
          partition.gpusPerNode().orElse(-1) == 0
              ? Optional.of("no GPUs")
              : counted(partition.gpusPerNode(), " GPUs on a node");
      case "gpu_type" -> partition.gpuType();
      case "cpus_per_task" -> counted(partition.cpusPerNode(), " CPUs on a node");
      case "memory" ->
          partition.memoryPerNode().isEmpty()
              ? Optional.empty()
              : Optional.of(Memory.words(partition.memoryPerNode().get()) + "iB on a node");
      case "time" ->
          partition.maxTime().isEmpty()
              ? Optional.empty()
              : Optional.of(
                  "a time limit of " + TimeLimit.format(partition.maxTime().get()) + " (MaxTime)");
      default -> throw new IllegalArgumentException(key);
    };
  }

  private static Optional<String> counted(Optional<Integer> number, String what) {
    return number.isPresent() ? Optional.of(number.get() + what) : Optional.empty();
  }

  private static boolean above(int asked, Optional<Integer> most) {
    return most.isPresent() && asked > most.get();
  }

  private static boolean differ(Optional<String> asked, Optional<String> had) {
    return asked.isPresent() && had.isPresent() && !asked.get().equalsIgnoreCase(had.get());
  }
}
