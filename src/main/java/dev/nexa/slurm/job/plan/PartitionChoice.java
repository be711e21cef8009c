package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import dev.nexa.slurm.job.plan.PartitionLimits.Misfit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Chooses the partition of a job.
 *
 * <p>A job that names a partition gets it. Otherwise the job gets the profile's default partition
 * if it fits, else the fitting partition with the smallest nodes. For a job with GPUs, a partition
 * that is known to have them takes precedence over one whose GPUs are unknown.
 *
 * @param gpus GPUs on each node; 0 if ranks run on CPUs
 */
record PartitionChoice(ClusterProfile cluster, PartitionLimits limits, Resources asked, int gpus) {
  /**
   * The result.
   *
   * @param partition empty if Slurm chooses, or if no partition fits
   * @param reason one sentence that begins with the partition; empty if {@code partition} is empty
   * @param misfit why no partition fits, a line for each; an empty text if one fits
   * @param key the key at fault: the key of one resource if only this resource fits nowhere
   */
  record Choice(Optional<String> partition, Optional<String> reason, String misfit, String key) {
    private static Choice of(String partition, String why) {
      String reason = "partition " + partition + ": " + why;
      return new Choice(Optional.of(partition), Optional.of(reason), "", "");
    }
  }

  Choice choose() {
    if (asked.option(ResourceOption.PARTITION).isPresent()) {
      return Choice.of(asked.option(ResourceOption.PARTITION).get(), "as you asked");
    }
    if (cluster.partitions().isEmpty() || cluster.isLocal()) {
      return byDefault().isEmpty()
          ? new Choice(Optional.empty(), Optional.empty(), "", "")
          : Choice.of(byDefault(), "the profile's default");
    }
    if (cluster.partitions().size() == 1) {
      String only = cluster.partitions().keySet().iterator().next();
      if (only.equals(byDefault()) || !known(only).byNameOnly()) {
        return Choice.of(only, "the profile has no other");
      }
    }
    List<String> fitting = new ArrayList<>();
    StringBuilder misfits = new StringBuilder();
    Set<String> keys = new HashSet<>();
    for (Map.Entry<String, Partition> entry : cluster.partitions().entrySet()) {
      String why = misfit(entry.getKey(), entry.getValue());
      if (why.isEmpty()) {
        fitting.add(entry.getKey());
      } else {
        misfits.append("\n    ").append(entry.getKey()).append(' ').append(why);
        boolean hasGpus = gpus == 0 || entry.getValue().gpusPerNode().orElse(1) > 0;
        boolean open = hasGpus && !isClosed(entry.getKey(), entry.getValue());
        for (Misfit one : misfits(entry.getKey(), entry.getValue())) {
          keys.add(open ? one.key() : "");
        }
      }
    }
    if (fitting.isEmpty()) {
      String none =
          "no partition of cluster profile '%s' fits %s%s:"
              .formatted(cluster.name(), wanted(), otherType());
      keys.remove("");
      String key = keys.size() == 1 ? keys.iterator().next() : "";
      return new Choice(
          Optional.empty(),
          Optional.empty(),
          none + misfits + remark(key),
          key.isEmpty() ? "resources" : "resources." + key);
    }
    return among(fitting);
  }

  /** Returns what was perhaps meant by a number that fits nowhere. */
  private String remark(String key) {
    long minutes = asked.time().toMinutes();
    if (key.equals("time") && minutes % 1800 == 0) {
      return "\n    a bare number is minutes: for %s seconds write %sm"
          .formatted(minutes, minutes / 60);
    }
    int most =
        cluster.partitions().values().stream()
            .mapToInt(partition -> partition.gpusPerNode().orElse(0))
            .max()
            .orElse(0);
    return key.equals("gpus_per_node") ? PartitionLimits.onMoreNodes(gpus, most, "\n    ") : "";
  }

  private Choice among(List<String> fitting) {
    List<String> sure = sure(fitting);
    if (sure.contains(byDefault())) {
      return Choice.of(byDefault(), "the profile's default");
    }
    String best = smallest(asked.gpuType().isPresent() ? sure : ofClustersType(sure));
    return Choice.of(best, why(best, fitting));
  }

  /** Returns the requested resources in words. */
  private String wanted() {
    StringBuilder wanted = new StringBuilder();
    wanted.append(asked.nodes()).append(asked.nodes() == 1 ? " node" : " nodes");
    if (gpus > 0) {
      wanted.append(" with ").append(gpus);
      asked.gpuType().ifPresent(type -> wanted.append(' ').append(type));
      wanted.append(gpus == 1 ? " GPU, " : " GPUs, ");
    } else {
      wanted.append(" with ");
    }
    wanted.append(asked.cpusPerTask()).append(asked.cpusPerTask() == 1 ? " CPU" : " CPUs");
    if (asked.memoryBytes().isPresent()) {
      wanted.append(" and ").append(Memory.plain(asked.memoryBytes().get()));
    }
    wanted.append(asked.nodes() == 1 ? ", for " : " each, for ");
    return wanted.append(TimeLimit.words(asked.time())).toString();
  }

  /** Returns another spelling of the requested GPU type if no partition has that type. */
  private String otherType() {
    Set<String> types = cluster.gpuTypes();
    String type = asked.gpuType().orElse("");
    boolean known = types.stream().anyMatch(type::equalsIgnoreCase);
    return known || gpus == 0 ? "" : Nearest.product(type, types);
  }

  /** Returns why the job does not fit the partition; an empty text if it fits. */
  private String misfit(String name, Partition partition) {
    if (isClosed(name, partition)) {
      return "is only for jobs that name it (by_name_only)";
    }
    StringBuilder why = new StringBuilder();
    for (Misfit misfit : misfits(name, partition)) {
      why.append(why.length() == 0 ? "has " : ", ").append(misfit.has());
      why.append(misfit.key().equals("gpu_type") ? " GPUs" : "");
    }
    return why.toString();
  }

  private boolean isClosed(String name, Partition partition) {
    return partition.byNameOnly() && !name.equals(byDefault());
  }

  private List<Misfit> misfits(String name, Partition partition) {
    Allocation there = Allocation.of(asked, cluster, gpus, Optional.of(name));
    return limits.misfits(name, partition, there);
  }

  /**
   * Returns the partitions that are known to have the requested GPUs; all of them if none has, or
   * if the job needs no GPUs.
   */
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

  /** Returns the partitions with the profile's default GPU type; all of them if none has it. */
  private List<String> ofClustersType(List<String> names) {
    Optional<String> usual = cluster.usual().gpuType().filter(type -> gpus > 0);
    List<String> same =
        names.stream()
            .filter(name -> usual.isPresent() && known(name).gpuType().equals(usual))
            .toList();
    return same.isEmpty() ? names : same;
  }

  private String smallest(List<String> names) {
    return names.stream().reduce((best, name) -> isSmaller(name, best) ? name : best).orElseThrow();
  }

  /**
   * Compares nodes by GPUs, then CPUs, then memory, then the partition's name. An unknown value
   * counts as the largest.
   */
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
    if (byDefault().isEmpty()) {
      return fitting.size() == 1
          ? "the only one that fits"
          : "the smallest nodes of the " + fitting.size() + " that fit";
    }
    List<Misfit> misfits = misfits(byDefault(), known(byDefault()));
    String key = misfits.isEmpty() ? "gpu_type" : misfits.get(0).key();
    Optional<String> has = PartitionLimits.has(key, known(best));
    String instead =
        misfits.isEmpty() ? "does not say which GPUs it has" : "has " + misfits.get(0).has();
    return "%s; default partition %s %s"
        .formatted(has.isPresent() ? "has " + has.get() : "fits", byDefault(), instead);
  }

  /** Returns the profile's default partition; an empty text for none. */
  private String byDefault() {
    return cluster.usual().partition().orElse("");
  }

  private Partition known(String name) {
    return Objects.requireNonNull(cluster.partitions().get(name));
  }
}
