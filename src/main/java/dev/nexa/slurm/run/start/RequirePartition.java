package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.PartitionFacts;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.run.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compares a plan with Slurm: its QOS, and its partition if the cluster profile lists none. Slurm
 * itself accepts a job over MaxTime unless EnforcePartLimits is set (slurm.conf(5)), and never
 * starts it; {@code sbatch --test-only} then promises a start.
 */
public final class RequirePartition {
  private RequirePartition() {}

  /**
   * Checks the plan. A QOS is compared with the list of accounting, by one call of sacctmgr. The
   * partition is not compared if the cluster profile lists the partitions, or if Slurm did not say
   * which it has.
   *
   * @throws ConfigException if the partition or the QOS does not exist, or if the job exceeds the
   *     partition's limits
   */
  public static void of(Context context, Prepared prepared) {
    List<Problem> wrong = new ArrayList<>();
    Plan plan = prepared.plan();
    Optional<String> qos = plan.allocation().option(ResourceOption.QOS);
    if (qos.isPresent() && !plan.site().scheduler().equals(ClusterProfile.LOCAL)) {
      context.slurm().ifPresent(slurm -> qos(qos.get(), slurm, plan, wrong));
    }
    for (Plan group : prepared.plan().each()) {
      if (!prepared.knowsPartitions() && prepared.partitions().isPresent()) {
        check(group, prepared.partitions().get(), wrong);
      }
    }
    Problem.throwIfAny(wrong);
  }

  /** Without AccountingStorageEnforce=qos, Slurm takes a job of a QOS that does not exist. */
  private static void qos(String name, SlurmScheduler slurm, Plan plan, List<Problem> problems) {
    try {
      List<String> known = slurm.qosNames();
      if (!known.isEmpty() && known.stream().noneMatch(name::equalsIgnoreCase)) {
        problems.add(
            plan.written()
                .problem(
                    "resources.qos",
                    "Slurm's accounting has no QOS '%s'%s; it has %s"
                        .formatted(name, Nearest.hint(name, known), String.join(", ", known))));
      }
    } catch (SchedulerUnavailable unknown) {
      // A cluster without accounting has no QOS to compare with; Slurm answers.
    }
  }

  private static void check(Plan plan, List<PartitionFacts> partitions, List<Problem> problems) {
    Optional<String> named = plan.allocation().partition();
    Optional<PartitionFacts> found = Optional.empty();
    List<String> names = new ArrayList<>();
    for (PartitionFacts partition : partitions) {
      names.add(partition.name());
      boolean wanted =
          named.isPresent() ? partition.name().equals(named.get()) : partition.byDefault();
      found = wanted ? Optional.of(partition) : found;
    }
    // sbatch takes a list of partitions too; an answer without partitions says nothing.
    if (names.isEmpty() || named.orElse("").contains(",")) {
      return;
    }
    if (found.isPresent()) {
      limits(plan, found.get(), problems);
    } else if (named.isPresent()) {
      problems.add(
          plan.written()
              .problem(
                  "resources.partition",
                  "Slurm has no partition '%s'%s; it has %s"
                      .formatted(
                          named.get(),
                          Nearest.hint(named.get(), names),
                          String.join(", ", names))));
    }
  }

  private static void limits(Plan plan, PartitionFacts partition, List<Problem> problems) {
    Duration asked = plan.allocation().timeLimit();
    if (partition.maxTime().isPresent() && asked.compareTo(partition.maxTime().get()) > 0) {
      problems.add(
          plan.written()
              .problem(
                  "resources.time",
                  ("you ask for a time limit of %s; partition '%s' has a time limit of %s"
                          + " (MaxTime)")
                      .formatted(
                          TimeLimit.words(asked),
                          partition.name(),
                          TimeLimit.words(partition.maxTime().get()))));
    }
    int nodes = plan.allocation().nodes();
    if (partition.maxNodes().isPresent() && nodes > partition.maxNodes().get()) {
      problems.add(
          plan.written()
              .problem(
                  "resources.nodes",
                  ("you ask for %s nodes; partition '%s' has %s nodes for a job at most"
                          + " (MaxNodes)")
                      .formatted(nodes, partition.name(), partition.maxNodes().get())));
    }
  }
}
