package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.units.BillingWeights;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;

/**
 * What Slurm tells of a cluster, as far as a cluster profile wants to know it. A limit that Slurm
 * calls UNLIMITED, INFINITE or NONE is empty.
 *
 * @param name slurm.conf's ClusterName
 * @param version as Slurm writes it: {@code 22.05.8}
 * @param overTimeLimitMinutes slurm.conf's OverTimeLimit
 * @param maxArraySize one more than the highest index of an array
 * @param defaultPartition Slurm's own, where it may be used
 * @param partitions those that jobs may be sent to, in Slurm's order
 * @param leftOut the others, each with the reason
 * @param billingRule how weights make billing units, by its PriorityFlags
 * @param sacctFields those of {@link dev.nexa.slurm.config.ClusterProfile#SACCT_FIELDS} that its
 *     sacct has
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

  /** The same, with the fields that its sacct has beside those of every version. */
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
   * @param exclusive whether jobs get whole nodes
   * @param onlyFor what Slurm demands of its jobs, such as {@code AllowAccounts=nlp}; empty for
   *     nothing
   * @param nodes their names in Slurm's notation
   * @param nodeCount how many there are
   * @param cpus CPUs of a node, at most MaxCPUsPerNode
   * @param memoryMib memory of a node, at most MaxMemPerNode
   * @param gpus GPUs of a node, of whatever type
   * @param gpuTypes the types; the empty one for GPUs without a type
   * @param defaultMibPerCpu its DefMemPerCPU, else the cluster's
   * @param defaultMibPerNode its DefMemPerNode, else the cluster's
   * @param maxTime rounded down to whole minutes
   * @param overTimeLimitMinutes where it has its own
   * @param billingWeights its TRESBillingWeights; empty for none
   */
  public record Partition(
      String name,
      boolean exclusive,
      String onlyFor,
      String nodes,
      int nodeCount,
      Spread cpus,
      Spread memoryMib,
      Spread gpus,
      SortedSet<String> gpuTypes,
      Optional<Long> defaultMibPerCpu,
      Optional<Long> defaultMibPerNode,
      Optional<Long> maxNodes,
      Optional<Duration> maxTime,
      Optional<Long> overTimeLimitMinutes,
      String billingWeights) {}

  /** What the nodes of a partition have of something: the least and the most. */
  public record Spread(long least, long most) {
    static Spread of(long value) {
      return new Spread(value, value);
    }

    Spread with(long value) {
      return new Spread(Math.min(least, value), Math.max(most, value));
    }

    Spread atMost(Optional<Long> limit) {
      return limit.isEmpty()
          ? this
          : new Spread(Math.min(least, limit.get()), Math.min(most, limit.get()));
    }

    /** Whether all nodes have the same. */
    public boolean same() {
      return least == most;
    }
  }
}
