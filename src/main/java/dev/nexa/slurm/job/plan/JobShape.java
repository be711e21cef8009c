package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.job.config.run.TaskArray;
import java.util.List;
import java.util.Optional;

/**
 * How many jobs and tasks the run has, and what each task gets.
 *
 * @param partitionReason why the partition was chosen, one sentence; empty if Slurm chooses
 * @param billed the most that Slurm gives to a task, which it is charged for
 * @param ranksPerNode processes of a distributed launch on each node; 0 if the task is one process
 * @param tasks the number of array tasks; 1 for a single job
 * @param array the config's array: indices, packs, points of a sweep, links of a chain
 * @param grown the most that the attempts after the first are charged for; empty unless they grow
 * @param groups the groups of a heterogeneous job, whose first is the plan itself; empty for any
 *     other
 */
public record JobShape(
    Allocation allocation,
    Optional<String> partitionReason,
    BilledResources billed,
    int ranksPerNode,
    int tasks,
    TaskArray array,
    List<AttemptSize> grown,
    List<JobGroup> groups) {
  /** Returns a copy with groups, one task for each. */
  JobShape of(List<JobGroup> all) {
    return with(all.size(), billed, grown, all);
  }

  /** Returns a copy that is charged for other resources. */
  JobShape with(BilledResources billed, List<AttemptSize> grown) {
    return with(tasks, billed, grown, groups);
  }

  private JobShape with(
      int tasks, BilledResources billed, List<AttemptSize> grown, List<JobGroup> groups) {
    return new JobShape(
        allocation, partitionReason, billed, ranksPerNode, tasks, array, grown, groups);
  }
}
