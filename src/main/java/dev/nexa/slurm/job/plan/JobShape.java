package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.TaskArray.Pack;
import java.util.List;
import java.util.Optional;

/**
 * How many jobs and tasks the run has, and what each task gets.
 *
 * @param partitionReason why the partition was chosen, one sentence; empty if Slurm chooses
 * @param billed the most that Slurm gives to a task, which it is charged for
 * @param ranksPerNode processes of a distributed launch on each node; 0 if the task is one process
 * @param tasks the number of array tasks; 1 for a single job
 * @param indices what a program sees in place of the numbers from 0, in sbatch's notation
 * @param pack how a task runs several indices; empty if it runs one
 * @param maxParallel the most tasks that run at the same time; empty for all
 * @param points the points of a sweep: training keys and {@code options.NAME} for each task; empty
 *     without a sweep
 * @param chain the number of jobs that follow each other, each with all tasks
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
    Optional<String> indices,
    Optional<Pack> pack,
    Optional<Integer> maxParallel,
    List<JsonObject> points,
    int chain,
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
        allocation,
        partitionReason,
        billed,
        ranksPerNode,
        tasks,
        indices,
        pack,
        maxParallel,
        points,
        chain,
        grown,
        groups);
  }
}
