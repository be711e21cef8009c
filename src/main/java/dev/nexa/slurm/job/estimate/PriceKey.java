package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The facts that decide which prices apply to a run.
 *
 * @param cluster the cluster profile's name
 * @param partition the partition; empty if Slurm chooses
 * @param account the Slurm account; empty if the run names none
 * @param day the day of planning, UTC
 * @param gpuTypes the GPU types that the run will hold; each needs a price
 * @param nodeCpus the CPUs of a node, if the run gets whole nodes; else empty
 * @param billingWeights the partition's billing weights; empty if the profile gives none
 * @param billingRule the profile's rule for combining the weights
 * @param apiModels the models of paid APIs whose tokens the run uses; each needs a price
 */
public record PriceKey(
    String cluster,
    Optional<String> partition,
    Optional<String> account,
    LocalDate day,
    List<String> gpuTypes,
    Optional<Integer> nodeCpus,
    Optional<String> billingWeights,
    String billingRule,
    List<String> apiModels) {
  /** Returns a key for each partition where the run may start. */
  public List<PriceKey> each(ClusterProfile cluster) {
    List<String> names = ClusterProfile.partitionNames(partition);
    if (names.size() < 2) {
      return List.of(this);
    }
    List<PriceKey> keys = new ArrayList<>();
    for (String name : names) {
      Optional<String> one = name.isEmpty() ? Optional.empty() : Optional.of(name);
      keys.add(
          new PriceKey(
              this.cluster,
              one,
              account,
              day,
              gpuTypes,
              nodeCpus,
              weights(cluster, one),
              billingRule,
              apiModels));
    }
    return keys;
  }

  /** Returns a copy for a run that will hold GPUs of these types. */
  public PriceKey holding(List<String> types) {
    return new PriceKey(
        cluster, partition, account, day, types, nodeCpus, billingWeights, billingRule, apiModels);
  }

  /** Returns a copy for a run that will use tokens of these models. */
  public PriceKey calling(List<String> models) {
    return new PriceKey(
        cluster, partition, account, day, gpuTypes, nodeCpus, billingWeights, billingRule, models);
  }

  /** Returns the key of a plan; of several partitions it has all names, with commas between. */
  public static PriceKey of(Plan plan, ClusterProfile cluster, LocalDate day) {
    if (plan.shape().groups().isEmpty()) {
      return ofOne(plan, cluster, day);
    }
    return together(plan.each().stream().map(one -> ofOne(one, cluster, day)).toList());
  }

  /**
   * Returns the key of a heterogeneous job: it may start in the partitions of all of its groups. An
   * empty name among them is the partition that Slurm chooses.
   */
  private static PriceKey together(List<PriceKey> groups) {
    PriceKey first = groups.get(0);
    if (groups.size() == 1) {
      return first;
    }
    Set<String> partitions = new LinkedHashSet<>();
    Set<String> types = new LinkedHashSet<>();
    Optional<Integer> nodeCpus = first.nodeCpus;
    for (PriceKey group : groups) {
      partitions.add(group.partition.orElse(""));
      types.addAll(group.gpuTypes);
      nodeCpus = nodeCpus.isPresent() ? nodeCpus : group.nodeCpus;
    }
    return new PriceKey(
        first.cluster,
        partitions.equals(Set.of(""))
            ? Optional.empty()
            : Optional.of(String.join(",", partitions)),
        first.account,
        first.day,
        List.copyOf(types),
        nodeCpus,
        first.billingWeights,
        first.billingRule,
        first.apiModels);
  }

  private static PriceKey ofOne(Plan plan, ClusterProfile cluster, LocalDate day) {
    Optional<String> partition = plan.allocation().partition();
    boolean local = cluster.isLocal();
    boolean whole = plan.billed().whole();
    return new PriceKey(
        plan.site().cluster(),
        local && partition.isEmpty() ? Optional.of("local") : partition,
        plan.allocation().account(),
        day,
        plan.billed().gpus() > 0 ? List.of(plan.billed().gpuType().orElse("unknown")) : List.of(),
        whole
            ? Optional.of(Math.max(1, plan.billed().cpus() / plan.allocation().nodes()))
            : Optional.empty(),
        local ? Optional.of("CPU=1") : weights(cluster, partition),
        cluster.slurm().billingRule(),
        models(plan.payload().apiTokens()));
  }

  /**
   * Returns the key of a recorded plan on a given day, as a new submit would determine it.
   *
   * @param plan the content of plan.json
   */
  public static PriceKey of(PlanFile plan, ClusterProfile cluster, LocalDate day) {
    List<PlanFile> groups = plan.groups();
    return groups.isEmpty()
        ? ofOne(plan, cluster, day)
        : together(groups.stream().map(one -> ofOne(one, cluster, day)).toList());
  }

  private static PriceKey ofOne(PlanFile plan, ClusterProfile cluster, LocalDate day) {
    Optional<String> partition = plan.option(ResourceOption.PARTITION);
    boolean local = cluster.isLocal();
    boolean whole = plan.wholeNodes() || whole(cluster, partition);
    return new PriceKey(
        plan.cluster(),
        local && partition.isEmpty() ? Optional.of("local") : partition,
        plan.option(ResourceOption.ACCOUNT),
        day,
        List.copyOf(plan.gpusByType().keySet()),
        whole
            ? Optional.of(Math.toIntExact(Math.max(1, plan.cpus() / plan.nodes())))
            : Optional.empty(),
        local ? Optional.of("CPU=1") : weights(cluster, partition),
        cluster.slurm().billingRule(),
        models(plan.apiTokens()));
  }

  /**
   * Returns the key for a partition and account that are known only by name. Other facts come from
   * the profile.
   */
  public static PriceKey of(
      ClusterProfile cluster,
      Optional<String> partition,
      Optional<String> account,
      LocalDate day,
      List<String> gpuTypes) {
    boolean local = cluster.isLocal();
    Partition known = partition.isEmpty() ? null : cluster.partitions().get(partition.get());
    return new PriceKey(
        cluster.name(),
        local && partition.isEmpty() ? Optional.of("local") : partition,
        account,
        day,
        gpuTypes,
        known != null && known.exclusive() ? known.cpusPerNode() : Optional.empty(),
        local ? Optional.of("CPU=1") : weights(cluster, partition),
        cluster.slurm().billingRule(),
        List.of());
  }

  private static List<String> models(Optional<ApiTokens> tokens) {
    return tokens.isPresent() ? List.of(tokens.get().model()) : List.of();
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
