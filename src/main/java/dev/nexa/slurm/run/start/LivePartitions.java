package dev.nexa.slurm.run.start;

import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.PartitionFacts;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.config.site.NodeSharing;
import dev.nexa.slurm.job.plan.JobGroup;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Slurm's present partitions. Slurm is asked once, in the background, because a submit must be
 * quick.
 */
public final class LivePartitions {
  private final Context context;
  private @Nullable CompletableFuture<Optional<List<PartitionFacts>>> answer;

  public LivePartitions(Context context) {
    this.context = context;
  }

  /** Asks in another thread, if no thread has asked yet. */
  synchronized void ask() {
    if (answer == null) {
      answer = CompletableFuture.supplyAsync(() -> partitions(context.slurm()));
    }
  }

  private static Optional<List<PartitionFacts>> partitions(Optional<SlurmScheduler> slurm) {
    try {
      return slurm.map(SlurmScheduler::partitions);
    } catch (SchedulerUnavailable unknown) {
      return Optional.empty();
    }
  }

  /** Returns the partitions, also hidden ones; empty if there is no Slurm, or if it is silent. */
  synchronized Optional<List<PartitionFacts>> get() {
    ask();
    return Objects.requireNonNull(answer).join();
  }

  /**
   * Returns a copy of the plan that is charged for what Slurm gives in the plan's partitions now. A
   * partition that Slurm does not show changes nothing.
   */
  static Plan given(Plan plan, List<PartitionFacts> partitions) {
    if (plan.shape().groups().isEmpty()) {
      return givenOne(plan, partitions);
    }
    List<JobGroup> groups = new ArrayList<>();
    for (JobGroup group : plan.shape().groups()) {
      groups.add(new JobGroup(group.name(), givenOne(group.plan(), partitions)));
    }
    return plan.withGroups(groups);
  }

  private static Plan givenOne(Plan plan, List<PartitionFacts> partitions) {
    Optional<String> named = plan.allocation().partition();
    List<String> names = List.of(named.orElse("").split(",", -1));
    List<NodeSharing> meant = new ArrayList<>();
    for (PartitionFacts partition : partitions) {
      if (named.isPresent() ? names.contains(partition.name()) : partition.byDefault()) {
        meant.add(partition.sharing());
      }
    }
    return plan.givenBy(meant);
  }
}
