package dev.nexa.slurm.estimate;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ClusterProfile.Partition;
import dev.nexa.slurm.plan.Plan;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;

/**
 * What the prices of a run depend on.
 *
 * @param cluster the cluster profile's name
 * @param partition empty where that is left to Slurm
 * @param account the Slurm account; empty where the run names none
 * @param day of the planning, UTC
 * @param gpuTypes the GPU types that it will hold, so that each must have a price
 * @param nodeCpus where it gets whole nodes, the CPUs of one; else empty
 * @param billingWeights of its partition; empty where the profile does not tell
 * @param billingRule how they add up, as the profile writes it
 */
public record PriceKey(
    String cluster,
    Optional<String> partition,
    Optional<String> account,
    LocalDate day,
    List<String> gpuTypes,
    Optional<Integer> nodeCpus,
    Optional<String> billingWeights,
    String billingRule) {

  /** The same for a run that will hold GPUs of these types. */
  public PriceKey holding(List<String> types) {
    return new PriceKey(
        cluster, partition, account, day, types, nodeCpus, billingWeights, billingRule);
  }

  /** The key of a plan. */
  public static PriceKey of(Plan plan, ClusterProfile cluster, LocalDate day) {
    Optional<String> partition = plan.allocation().partition();
    boolean local = cluster.scheduler().equals("local");
    boolean whole = plan.allocation().exclusive() || whole(cluster, partition);
    return new PriceKey(
        plan.cluster(),
        local && partition.isEmpty() ? Optional.of("local") : partition,
        plan.allocation().account(),
        day,
        plan.billed().gpus() > 0 ? List.of(plan.billed().gpuType().orElse("unknown")) : List.of(),
        whole
            ? Optional.of(Math.max(1, plan.billed().cpus() / plan.allocation().nodes()))
            : Optional.empty(),
        local ? Optional.of("CPU=1") : weights(cluster, partition),
        cluster.billingRule());
  }

  /** The key of what is known by names only; the partition's own facts are the profile's. */
  public static PriceKey of(
      ClusterProfile cluster,
      Optional<String> partition,
      Optional<String> account,
      LocalDate day,
      List<String> gpuTypes) {
    boolean local = cluster.scheduler().equals("local");
    Partition known = partition.isEmpty() ? null : cluster.partitions().get(partition.get());
    return new PriceKey(
        cluster.name(),
        local && partition.isEmpty() ? Optional.of("local") : partition,
        account,
        day,
        gpuTypes,
        known != null && known.exclusive() ? known.cpusPerNode() : Optional.empty(),
        local ? Optional.of("CPU=1") : weights(cluster, partition),
        cluster.billingRule());
  }

  private static boolean whole(ClusterProfile cluster, Optional<String> partition) {
    Partition known = partition.isEmpty() ? null : cluster.partitions().get(partition.get());
    return known != null && known.exclusive();
  }

  private static Optional<String> weights(ClusterProfile cluster, Optional<String> partition) {
    Partition known = partition.isEmpty() ? null : cluster.partitions().get(partition.get());
    return known == null ? Optional.empty() : known.billingWeights();
  }
}
