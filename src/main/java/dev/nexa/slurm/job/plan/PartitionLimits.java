package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks whether an allocation fits a partition, as far as the cluster profile describes it. Slurm
 * would refuse a job that does not fit, or never start it.
 */
record PartitionLimits(ClusterProfile cluster) {
  /**
   * One resource that does not fit.
   *
   * @param key the key of {@code resources}
   * @param has what the partition has instead: {@code 8 GPUs on a node}
   * @param message a sentence with advice
   */
  record Misfit(String key, String has, String message) {}

  /** Adds a problem for each resource that does not fit the chosen partition. */
  void check(Allocation asked, ConfigPositions written, List<Problem> problems) {
    for (String name : ClusterProfile.partitionNames(asked.partition())) {
      Partition partition = cluster.partitions().get(name);
      if (partition != null) {
        for (Misfit misfit : misfits(name, partition, asked)) {
          problems.add(written.problem("resources." + misfit.key(), misfit.message()));
        }
      } else if (!cluster.partitions().isEmpty()) {
        problems.add(written.problem("resources.partition", unknown(name)));
      }
    }
    if (cluster.known(asked.partition()).isEmpty() && problems.isEmpty() && !cluster.isLocal()) {
      String name = asked.partition().orElse("");
      String key = asked.exclusive() ? "resources.exclusive" : "resources.memory";
      if (asked.exclusive() || asked.memoryBytes() == 0) {
        problems.add(written.problem(key, unsized(name.isEmpty() ? "NAME" : name)));
      }
    }
  }

  /** Returns whether the profile lists partitions, but not the given partition. */
  boolean isUnknown(Optional<String> partition) {
    List<String> names = ClusterProfile.partitionNames(partition);
    return !cluster.partitions().isEmpty() && names.size() > cluster.known(partition).size();
  }

  private String unknown(String partition) {
    List<String> names = List.copyOf(cluster.partitions().keySet());
    return "cluster profile '%s' has no partition '%s'%s; it has %s"
        .formatted(
            cluster.name(), partition, Nearest.hint(partition, names), String.join(", ", names));
  }

  private String unsized(String partition) {
    return ("whole nodes are paid for, and cluster profile '%s' does not say how large they are; give"
            + " partitions.%s cpus_per_node, memory_per_node and gpus_per_node (0 for none)")
        .formatted(cluster.name(), partition);
  }

  /**
   * Returns the resources that do not fit. A limit that the profile does not give fits every value.
   */
  List<Misfit> misfits(String name, Partition partition, Allocation asked) {
    List<Misfit> misfits = new ArrayList<>();
    if (asked.exclusive() && !cluster.isLocal() && !partition.sized()) {
      misfits.add(new Misfit("exclusive", has("exclusive", partition).orElse(""), unsized(name)));
    }
    if (above(asked.fewestNodes(), partition.maxNodes())) {
      add(misfits, "nodes", name, partition, asked, "");
    }
    if (above(asked.gpusPerNode(), partition.gpusPerNode())) {
      int most = partition.gpusPerNode().orElse(0);
      String more = onMoreNodes(asked.gpusPerNode(), most, "; ");
      add(misfits, "gpus_per_node", name, partition, asked, more);
    }
    if (asked.gpusPerNode() > 0 && differ(asked.gpuType(), partition.gpuType())) {
      String near = partition.gpuType().orElse("");
      String hint = Nearest.product(asked.gpuType().orElse(""), List.of(near));
      add(misfits, "gpu_type", name, partition, asked, hint);
    }
    if (above(asked.cpusPerTask(), partition.cpusPerNode())) {
      add(misfits, "cpus_per_task", name, partition, asked, "");
    }
    boolean byNode = asked.memoryBytes() >= 0 && !asked.isSized();
    int needed = partition.sharing().cpusFor(asked.cpusPerTask(), asked.memoryBytes());
    if (byNode && needed > asked.cpusPerTask() && above(needed, partition.cpusPerNode())) {
      String has = has("cpus_per_task", partition).orElse("");
      String why = asked.needsCpus(partition.sharing());
      misfits.add(new Misfit("memory", has, why + "; partition '" + name + "' has " + has));
    }
    Optional<Long> memory = partition.memoryPerNode();
    if (asked.memoryBytes() == 0 && memory.isEmpty() && !asked.exclusive()) {
      String has = "nodes whose memory the cluster profile does not say";
      String message =
          "all memory of a node is paid for, and partition '%s' has %s; give memory_per_node"
              .formatted(name, has);
      misfits.add(new Misfit("memory", has, message));
    }
    if (memory.isPresent() && asked.memoryBytes() > memory.get()) {
      add(misfits, "memory", name, partition, asked, "");
    }
    Optional<Duration> most = partition.maxTime();
    if (most.isPresent() && asked.timeLimit().compareTo(most.get()) > 0) {
      add(misfits, "time", name, partition, asked, "");
    }
    return misfits;
  }

  /**
   * Returns how to ask for more GPUs than a node has; an empty text if no node has any.
   *
   * @param most the most GPUs of a node
   */
  static String onMoreNodes(int gpus, int most, String before) {
    if (most == 0) {
      return "";
    }
    String each = before + "gpus_per_node counts the GPUs on each node; ";
    return gpus % most > 0
        ? each + "ask for more nodes"
        : each
            + String.format(
                "for %1$d in all write nodes: %2$d and gpus_per_node: %3$d, or type --nodes %2$d --gpus"
                    + " %3$d",
                gpus, gpus / most, most);
  }

  private static void add(
      List<Misfit> misfits,
      String key,
      String name,
      Partition partition,
      Allocation asked,
      String advice) {
    String has = has(key, partition).orElse("");
    String type = key.equals("gpu_type") ? "GPUs of type " : "";
    misfits.add(
        new Misfit(
            key,
            has,
            "you ask for %s; partition '%s' has %s%s%s"
                .formatted(wanted(key, asked), name, type, has, advice)));
  }

  /** Returns what the job asks for, in words. */
  private static String wanted(String key, Allocation asked) {
    return switch (key) {
      case "nodes" -> asked.fewestNodes() + " nodes";
      case "gpus_per_node" -> asked.gpusPerNode() + " GPUs on a node";
      case "gpu_type" -> asked.gpuType().orElse("other") + " GPUs";
      case "cpus_per_task" -> asked.cpusPerTask() + " CPUs on a node";
      case "memory" -> Memory.plain(asked.memoryBytes()) + " on a node";
      case "time" -> "a time limit of " + TimeLimit.words(asked.timeLimit());
      default -> throw new IllegalArgumentException(key);
    };
  }

  /**
   * Returns what the partition has for {@code resources.KEY}; empty if the profile does not say.
   */
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
      case "memory" -> partition.memoryPerNode().map(bytes -> Memory.plain(bytes) + " on a node");
      case "time" ->
          partition
              .maxTime()
              .map(limit -> "a time limit of " + TimeLimit.words(limit) + " (MaxTime)");
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
