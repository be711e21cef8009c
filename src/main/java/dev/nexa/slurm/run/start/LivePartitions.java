package dev.nexa.slurm.run.start;

import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.PartitionFacts;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Slurm's partitions as they are now. Slurm is asked once, in the background, because a submit must
 * be quick.
 */
public final class LivePartitions {
  private final FutureTask<Optional<List<PartitionFacts>>> answer;
  private final AtomicBoolean asked = new AtomicBoolean();

  public LivePartitions(Context context) {
    this.answer = new FutureTask<>(() -> ask(context.slurm()));
  }

  private static Optional<List<PartitionFacts>> ask(Optional<SlurmScheduler> slurm) {
    try {
      return slurm.map(SlurmScheduler::partitions);
    } catch (SchedulerUnavailable unknown) {
      return Optional.empty();
    }
  }

  /** Begins to ask. */
  void begin() {
    if (!asked.getAndSet(true)) {
      Thread thread = new Thread(answer, "live-partitions");
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Returns the partitions, also hidden ones; empty if there is no Slurm, or if it is silent. */
  Optional<List<PartitionFacts>> get() {
    begin();
    try {
      return answer.get();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (ExecutionException failed) {
      throw new IllegalStateException(failed.getCause());
    }
  }

  /**
   * Returns a copy of the plan that is charged for what Slurm gives in the plan's partitions now. A
   * partition that Slurm does not show changes nothing.
   */
  static Plan given(Plan plan, List<PartitionFacts> partitions) {
    Optional<String> named = plan.allocation().partition();
    List<String> names = List.of(named.orElse("").split(",", -1));
    List<PartitionFacts> meant = new ArrayList<>();
    Set<String> types = new TreeSet<>();
    for (PartitionFacts partition : partitions) {
      if (named.isPresent() ? names.contains(partition.name()) : partition.byDefault()) {
        meant.add(partition);
        types.addAll(partition.gpuTypes());
      }
    }
    return plan.givenBy(meant.stream().map(PartitionFacts::sharing).toList(), types);
  }
}
