package dev.nexa.slurm.plan;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ClusterProfile.Partition;
import dev.nexa.slurm.config.RunConfig.Resources;
import dev.nexa.slurm.plan.PartitionLimits.Misfit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The partition of a job that names none: the profile's default if the job fits, else of those that
 * it fits the one with the smallest nodes. Where a job asks for GPUs, a partition that says it has
 * them goes before one of which it is not known.
 */
final class PartitionChoice {
  private final ClusterProfile cluster;
  private final PartitionLimits limits;
  private final Resources asked;
  private final int gpus;
  private final String byDefault;

  /**
   * A choice to make.
   *
   * @param gpus GPUs on each node; 0 where ranks run on CPUs
   */
  PartitionChoice(ClusterProfile cluster, PartitionLimits limits, Resources asked, int gpus) {
    this.cluster = cluster;
    this.limits = limits;
    this.asked = asked;
    this.gpus = gpus;
    this.byDefault = cluster.defaultPartition().orElse("");
  }

  /**
   * What was chosen.
   *
   * @param partition empty where it is left to Slurm, or where none fits
   * @param reason one sentence for a person, beginning with the partition
   * @param misfit why none fits, a line for each partition; empty where one does
   */
  record Choice(Optional<String> partition, Optional<String> reason, String misfit) {
    private static Choice of(String partition, String why) {
      String reason = "partition " + partition + ": " + why;
      return new Choice(Optional.of(partition), Optional.of(reason), "");
    }
  }

  Choice choose() {
    if (asked.partition().isPresent()) {
      return Choice.of(asked.partition().get(), "named by the config");
    }
    if (cluster.partitions().isEmpty() || !cluster.scheduler().equals("slurm")) {
      return byDefault.isEmpty()
          ? new Choice(Optional.empty(), Optional.empty(), "")
          : Choice.of(byDefault, "the profile's default");
    }
    if (cluster.partitions().size() == 1) {
      String only = cluster.partitions().keySet().iterator().next();
      if (only.equals(byDefault) || !known(only).byNameOnly()) {
        return Choice.of(only, "the profile has no other");
      }
    }
    List<String> fitting = new ArrayList<>();
    StringBuilder misfits = new StringBuilder();
    for (Map.Entry<String, Partition> entry : cluster.partitions().entrySet()) {
      String why = misfit(entry.getKey(), entry.getValue());
      if (why.isEmpty()) {
        fitting.add(entry.getKey());
      } else {
        misfits.append("\n    ").append(entry.getKey()).append(' ').append(why);
      }
    }
    if (fitting.isEmpty()) {
      String none =
          "no partition of cluster profile '" + cluster.name() + "' fits " + wanted() + ":";
      return new Choice(Optional.empty(), Optional.empty(), none + misfits);
    }
    return among(fitting);
  }

  private Choice among(List<String> fitting) {
    List<String> sure = sure(fitting);
    if (sure.contains(byDefault)) {
      return Choice.of(byDefault, "the profile's default");
    }
    String best = smallest(asked.gpuType().isPresent() ? sure : ofClustersType(sure));
    return Choice.of(best, why(best, fitting));
  }

  /** What was asked for, in the words of the config. */
  private String wanted() {
    StringBuilder wanted = new StringBuilder();
    wanted.append(asked.nodes()).append(asked.nodes() == 1 ? " node" : " nodes");
    if (gpus > 0) {
      wanted.append(" with ").append(gpus);
      asked.gpuType().ifPresent(type -> wanted.append(' ').append(type));
      wanted.append(gpus == 1 ? " GPU" : " GPUs").append(asked.nodes() == 1 ? "" : " each");
    }
    return wanted.toString();
  }

  /** Why the job does not go there; empty where it may. */
  private String misfit(String name, Partition partition) {
    if (partition.byNameOnly() && !name.equals(byDefault)) {
      return "is only for jobs that name it (by_name_only)";
    }
    StringBuilder why = new StringBuilder();
    for (Misfit misfit : misfits(name, partition)) {
      why.append(why.length() == 0 ? "has " : ", ").append(misfit.has());
      why.append(misfit.key().equals("gpu_type") ? " GPUs" : "");
    }
    return why.toString();
  }

  private List<Misfit> misfits(String name, Partition partition) {
    Allocation there = Allocation.of(asked, cluster, gpus, Optional.of(name));
    return limits.misfits(name, partition, there);
  }

  /** Those that say they have such GPUs; all of them where none does, or none is asked for. */
  private List<String> sure(List<String> names) {
    List<String> sure = new ArrayList<>();
    for (String name : names) {
      Partition partition = known(name);
      boolean has =
          asked.gpuType().isPresent()
              ? asked.gpuType().get().equalsIgnoreCase(partition.gpuType().orElse(""))
              : partition.gpuType().isPresent() || partition.gpusPerNode().isPresent();
      if (gpus > 0 && has) {
        sure.add(name);
      }
    }
    return sure.isEmpty() ? names : sure;
  }

  /** Those with the GPUs that the profile gives to jobs that name none; all where none has. */
  private List<String> ofClustersType(List<String> names) {
    List<String> same = new ArrayList<>();
    for (String name : names) {
      if (gpus > 0
          && cluster.gpuType().isPresent()
          && known(name).gpuType().equals(cluster.gpuType())) {
        same.add(name);
      }
    }
    return same.isEmpty() ? names : same;
  }

  private String smallest(List<String> names) {
    String best = names.get(0);
    for (String name : names) {
      if (isSmaller(name, best)) {
        best = name;
      }
    }
    return best;
  }

  /** Fewer GPUs, then CPUs, then memory, then by name; what is not known may be large. */
  private boolean isSmaller(String name, String other) {
    Partition a = known(name);
    Partition b = known(other);
    int order = Integer.compare(orMost(a.gpusPerNode()), orMost(b.gpusPerNode()));
    if (order == 0) {
      order = Integer.compare(orMost(a.cpusPerNode()), orMost(b.cpusPerNode()));
    }
    if (order == 0) {
      order =
          Long.compare(
              a.memoryPerNode().orElse(Long.MAX_VALUE), b.memoryPerNode().orElse(Long.MAX_VALUE));
    }
    return order == 0 ? name.compareTo(other) < 0 : order < 0;
  }

  private static int orMost(Optional<Integer> number) {
    return number.orElse(Integer.MAX_VALUE);
  }

  private String why(String best, List<String> fitting) {
    if (byDefault.isEmpty()) {
      return fitting.size() == 1
          ? "the only one that fits"
          : "the smallest nodes of the " + fitting.size() + " that fit";
    }
    List<Misfit> misfits = misfits(byDefault, known(byDefault));
    String key = misfits.isEmpty() ? "gpu_type" : misfits.get(0).key();
    Optional<String> has = PartitionLimits.has(key, known(best));
    String instead =
        misfits.isEmpty() ? "does not say which GPUs it has" : "has " + misfits.get(0).has();
    return (has.isPresent() ? "has " + has.get() : "fits")
        + "; default partition "
        + byDefault
        + " "
        + instead;
  }

  private Partition known(String name) {
    return Objects.requireNonNull(cluster.partitions().get(name));
  }
}
