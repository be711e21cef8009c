package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import dev.nexa.slurm.job.config.site.NodeSharing;
import dev.nexa.slurm.run.Context;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Lists the differences between a cluster and a user's profile of it. Compares only keys that Slurm
 * reports.
 */
public final class ProfileDifferences {
  private static final String NOTHING = "-";

  private final List<Difference> found = new ArrayList<>();

  private ProfileDifferences() {}

  /**
   * One key with different values.
   *
   * @param file the value in the file, {@code -} for none
   * @param cluster the value on the cluster
   */
  public record Difference(String key, String file, String cluster) {}

  /** Returns the keys whose values in a profile and on the cluster differ. */
  public static List<Difference> of(Context context, ClusterProfile file, SlurmCluster cluster) {
    String starter = context.source().carried("configs/clusters/default.yaml").text();
    String read = ProfileText.of(cluster, LocalDate.EPOCH, "nexa-slurm init", starter);
    return of(file, context.configs().cluster(file.name(), file.file(), read));
  }

  /** Returns the keys with different values. */
  public static List<Difference> of(ClusterProfile file, ClusterProfile cluster) {
    ProfileDifferences differences = new ProfileDifferences();
    ClusterProfile.SlurmConf kept = file.slurm();
    ClusterProfile.SlurmConf now = cluster.slurm();
    differences.told("default_partition", file.usual().partition(), cluster.usual().partition());
    differences.partitions(file, cluster);
    differences.key(
        "slurm.over_time_limit_minutes",
        kept.overTimeLimit().toMinutes(),
        now.overTimeLimit().toMinutes());
    differences.key(
        "slurm.kill_wait_seconds", kept.killWait().toSeconds(), now.killWait().toSeconds());
    differences.key(
        "slurm.message_timeout_seconds",
        kept.messageTimeout().toSeconds(),
        now.messageTimeout().toSeconds());
    differences.key("slurm.max_array_size", kept.maxArraySize(), now.maxArraySize());
    differences.key("slurm.billing_rule", kept.billingRule(), now.billingRule());
    if (!kept.sacctFields().isEmpty()) {
      differences.key("slurm.sacct_fields", kept.sacctFields(), now.sacctFields());
    }
    if (kept.version().isPresent()) {
      differences.told("slurm.version", kept.version(), now.version());
    }
    return List.copyOf(differences.found);
  }

  private void partitions(ClusterProfile file, ClusterProfile cluster) {
    if (file.partitions().isEmpty() && !cluster.partitions().isEmpty()) {
      String names = String.join(", ", cluster.partitions().keySet());
      found.add(new Difference("partitions", NOTHING, names));
      return;
    }
    Set<String> names = new TreeSet<>(file.partitions().keySet());
    names.addAll(cluster.partitions().keySet());
    for (String name : names) {
      Partition kept = file.partitions().get(name);
      Partition now = cluster.partitions().get(name);
      if (kept == null || now == null) {
        key(
            "partitions." + name,
            kept == null ? NOTHING : "there",
            now == null ? NOTHING : "there");
      } else {
        partition("partitions." + name + ".", kept, now);
      }
    }
  }

  private void partition(String path, Partition file, Partition cluster) {
    Map<String, Optional<?>> kept = values(file);
    values(cluster)
        .forEach((key, now) -> told(path + key, Objects.requireNonNull(kept.get(key)), now));
    NodeSharing sharing = cluster.sharing();
    // If all nodes are equal, the line above reports the difference.
    if (!sharing.mostCpus().equals(cluster.cpusPerNode())) {
      told(path + "most_cpus_per_node", file.sharing().mostCpus(), sharing.mostCpus());
    }
    if (!sharing.mostGpus().equals(cluster.gpusPerNode())) {
      told(path + "most_gpus_per_node", file.sharing().mostGpus(), sharing.mostGpus());
    }
    billing(path + "billing_weights", file.billingWeights(), cluster.billingWeights());
  }

  /**
   * Returns the values of a partition. A missing limit is a value, too: an obsolete limit in the
   * profile rejects jobs that could run, or makes the estimate's upper bound wrong.
   */
  private static Map<String, Optional<?>> values(Partition one) {
    NodeSharing sharing = one.sharing();
    Map<String, Optional<?>> values = new LinkedHashMap<>();
    values.put("exclusive", Optional.of(one.exclusive()));
    values.put("cpus_per_node", one.cpusPerNode());
    values.put("gpus_per_node", one.gpusPerNode());
    values.put("gpu_type", one.gpuType());
    values.put("memory_per_node", one.memoryPerNode().map(Memory::words));
    values.put("default_memory_per_cpu", one.defaultMemoryPerCpu().map(Memory::words));
    values.put("default_memory_per_node", one.defaultMemoryPerNode().map(Memory::words));
    values.put("cpus_multiple_of", Optional.of(sharing.cpusMultipleOf()));
    values.put("max_memory_per_cpu", limit(sharing.maxMemoryPerCpu().map(Memory::words)));
    values.put(
        "default_cpus_per_gpu",
        sharing.cpusPerGpu() == 0 ? Optional.empty() : Optional.of(sharing.cpusPerGpu()));
    values.put("max_nodes", one.maxNodes());
    values.put("max_time", limit(one.maxTime().map(TimeLimit::format)));
    values.put("over_time_limit_minutes", one.overTimeLimit().map(limit -> limit.toMinutes()));
    return values;
  }

  private static Optional<String> limit(Optional<String> told) {
    return Optional.of(told.orElse(NOTHING));
  }

  /** Compares the weights, which have several spellings. A profile without weights means CPU=1. */
  private void billing(String key, Optional<String> file, Optional<String> cluster) {
    if (cluster.isPresent()
        && !BillingWeights.parse(file.orElse("CPU=1")).same(BillingWeights.parse(cluster.get()))) {
      key(key, file.orElse(NOTHING), cluster.get());
    }
  }

  /** Compares a key that Slurm may not report; then there is no difference. */
  private void told(String key, Optional<?> file, Optional<?> cluster) {
    if (cluster.isPresent()) {
      key(key, file.<Object>map(told -> told).orElse(NOTHING), cluster.get());
    }
  }

  private void key(String key, Object file, Object cluster) {
    if (!file.equals(cluster)) {
      found.add(new Difference(key, file.toString(), cluster.toString()));
    }
  }
}
