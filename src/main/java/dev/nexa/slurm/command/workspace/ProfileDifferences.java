package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.ClusterProfile;
import dev.nexa.slurm.job.config.ClusterProfile.Partition;
import dev.nexa.slurm.job.config.NodeSharing;
import java.util.ArrayList;
import java.util.List;
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
  public record Difference(String key, String file, String cluster) {

    /** Returns the difference as a member of the document that {@code --json} prints. */
    public JsonObject toJson() {
      return new JsonObject().with("key", key).with("file", file).with("cluster", cluster);
    }
  }

  /** Returns the keys with different values. */
  public static List<Difference> of(ClusterProfile file, ClusterProfile cluster) {
    ProfileDifferences differences = new ProfileDifferences();
    differences.told("default_partition", file.defaultPartition(), cluster.defaultPartition());
    differences.partitions(file, cluster);
    differences.key(
        "slurm.over_time_limit_minutes",
        file.overTimeLimit().toMinutes(),
        cluster.overTimeLimit().toMinutes());
    differences.key(
        "slurm.kill_wait_seconds", file.killWait().toSeconds(), cluster.killWait().toSeconds());
    differences.key(
        "slurm.message_timeout_seconds",
        file.messageTimeout().toSeconds(),
        cluster.messageTimeout().toSeconds());
    differences.key("slurm.max_array_size", file.maxArraySize(), cluster.maxArraySize());
    differences.key("slurm.billing_rule", file.billingRule(), cluster.billingRule());
    if (!file.sacctFields().isEmpty()) {
      differences.key("slurm.sacct_fields", file.sacctFields(), cluster.sacctFields());
    }
    if (file.slurmVersion().isPresent()) {
      differences.told("slurm.version", file.slurmVersion(), cluster.slurmVersion());
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
    key(path + "exclusive", file.exclusive(), cluster.exclusive());
    told(path + "cpus_per_node", file.cpusPerNode(), cluster.cpusPerNode());
    told(path + "gpus_per_node", file.gpusPerNode(), cluster.gpusPerNode());
    told(path + "gpu_type", file.gpuType(), cluster.gpuType());
    told(
        path + "memory_per_node",
        file.memoryPerNode().map(Memory::words),
        cluster.memoryPerNode().map(Memory::words));
    told(
        path + "default_memory_per_cpu",
        file.defaultMemoryPerCpu().map(Memory::words),
        cluster.defaultMemoryPerCpu().map(Memory::words));
    told(
        path + "default_memory_per_node",
        file.defaultMemoryPerNode().map(Memory::words),
        cluster.defaultMemoryPerNode().map(Memory::words));
    sharing(path, file, cluster);
    told(path + "max_nodes", file.maxNodes(), cluster.maxNodes());
    // A missing limit is reported too, because an obsolete limit in the profile rejects jobs that
    // could run.
    key(
        path + "max_time",
        file.maxTime().map(TimeLimit::format).orElse(NOTHING),
        cluster.maxTime().map(TimeLimit::format).orElse(NOTHING));
    billing(path + "billing_weights", file.billingWeights(), cluster.billingWeights());
    told(
        path + "over_time_limit_minutes",
        file.overTimeLimit().map(limit -> limit.toMinutes()),
        cluster.overTimeLimit().map(limit -> limit.toMinutes()));
    if (file.billingWeights().isPresent()) {
      String now = cluster.billingWeights().orElse(NOTHING);
      key(path + "billing_weights", file.billingWeights().get(), now);
    }
  }

  /** An obsolete value is reported too, because the estimate's upper bound rests on it. */
  private void sharing(String path, Partition file, Partition cluster) {
    NodeSharing kept = file.sharing();
    NodeSharing now = cluster.sharing();
    key(path + "cpus_multiple_of", kept.cpusMultipleOf(), now.cpusMultipleOf());
    key(
        path + "max_memory_per_cpu",
        kept.maxMemoryPerCpu().map(Memory::words).orElse(NOTHING),
        now.maxMemoryPerCpu().map(Memory::words).orElse(NOTHING));
    // Of equal nodes the difference is told already.
    if (!now.mostCpus().equals(cluster.cpusPerNode())) {
      told(path + "most_cpus_per_node", kept.mostCpus(), now.mostCpus());
    }
    if (!now.mostGpus().equals(cluster.gpusPerNode())) {
      told(path + "most_gpus_per_node", kept.mostGpus(), now.mostGpus());
    }
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
      key(key, file.isPresent() ? file.get() : NOTHING, cluster.get());
    }
  }

  private void key(String key, Object file, Object cluster) {
    if (!file.equals(cluster)) {
      found.add(new Difference(key, file.toString(), cluster.toString()));
    }
  }
}
