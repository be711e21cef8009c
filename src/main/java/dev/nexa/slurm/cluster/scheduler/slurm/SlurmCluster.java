package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.job.config.site.NodeSharing;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;

/**
 * The facts about a cluster that a cluster profile needs. A limit that Slurm prints as UNLIMITED,
 * INFINITE or NONE is empty.
 *
 * @param name slurm.conf's ClusterName
 * @param version Slurm's version, such as {@code 22.05.8}
 * @param overTimeLimitMinutes slurm.conf's OverTimeLimit
 * @param killWaitSeconds slurm.conf's KillWait
 * @param messageTimeoutSeconds slurm.conf's MessageTimeout
 * @param maxArraySize slurm.conf's MaxArraySize: one more than the highest index of an array
 * @param defaultPartition the cluster's default partition; empty if jobs cannot be sent to it
 * @param partitions the partitions that jobs can be sent to, in Slurm's order
 * @param leftOut the other partitions by name, each with the reason
 * @param billingRule how billing weights are combined, from slurm.conf's PriorityFlags
 * @param sacctFields the fields of {@link
 *     dev.nexa.slurm.job.config.site.ClusterProfile#SACCT_FIELDS} that the cluster's sacct has
 */
public record SlurmCluster(
    String name,
    String version,
    int overTimeLimitMinutes,
    Optional<Long> killWaitSeconds,
    Optional<Long> messageTimeoutSeconds,
    Optional<Long> maxArraySize,
    Optional<String> defaultPartition,
    List<Partition> partitions,
    Map<String, String> leftOut,
    BillingWeights.Rule billingRule,
    List<String> sacctFields) {

  /** Returns a copy with these optional sacct fields. */
  SlurmCluster offering(List<String> fields) {
    return new SlurmCluster(
        name,
        version,
        overTimeLimitMinutes,
        killWaitSeconds,
        messageTimeoutSeconds,
        maxArraySize,
        defaultPartition,
        partitions,
        leftOut,
        billingRule,
        fields);
  }

  /**
   * A partition and its nodes.
   *
   * @param sharing what jobs get of the nodes beyond what they ask for
   * @param onlyFor what the partition demands of a job, such as {@code AllowAccounts=nlp}; empty
   *     for nothing
   * @param defaultMibPerCpu the partition's DefMemPerCPU in MiB, or else the cluster's
   * @param defaultMibPerNode the partition's DefMemPerNode in MiB, or else the cluster's
   * @param maxNodes the most nodes of a job
   * @param maxTime the longest time limit of a job, rounded down to whole minutes
   * @param overTimeLimitMinutes the partition's own OverTimeLimit; empty if it has none
   * @param billingWeights TRESBillingWeights as printed; empty for none
   */
  public record Partition(
      String name,
      NodeSharing sharing,
      String onlyFor,
      Nodes nodes,
      Optional<Long> defaultMibPerCpu,
      Optional<Long> defaultMibPerNode,
      Optional<Long> maxNodes,
      Optional<Duration> maxTime,
      Optional<Long> overTimeLimitMinutes,
      String billingWeights) {

    /** Returns whether jobs get whole nodes. */
    public boolean exclusive() {
      return sharing.exclusive();
    }
  }

  /**
   * The nodes of a partition.
   *
   * @param names node names in Slurm's notation
   * @param count number of nodes
   * @param cpus CPUs of a node, at most MaxCPUsPerNode
   * @param memoryMib memory of a node in MiB, at most MaxMemPerNode
   * @param gpus GPUs of a node, of all types
   * @param gpuTypes the GPU types; the empty string stands for GPUs without a type
   */
  public record Nodes(
      String names,
      int count,
      Spread cpus,
      Spread memoryMib,
      Spread gpus,
      SortedSet<String> gpuTypes) {}

  /** The smallest and the largest amount of a resource among the nodes of a partition. */
  public record Spread(long least, long most) {
    static Spread of(long value) {
      return new Spread(value, value);
    }

    Spread with(long value) {
      return new Spread(Math.min(least, value), Math.max(most, value));
    }

    Spread atMost(Optional<Long> limit) {
      return limit.map(l -> new Spread(Math.min(least, l), Math.min(most, l))).orElse(this);
    }

    /** Returns whether all nodes have the same amount. */
    public boolean same() {
      return least == most;
    }
  }
}
