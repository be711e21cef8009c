package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.plan.PlanFile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The tasks of a run and the limits that decide how they are split into job arrays.
 *
 * @param tasks the number of the run's tasks
 * @param maxArraySize MaxArraySize of slurm.conf(5): one more than the highest array index
 * @param maxParallel how many tasks may run at once; empty for no limit
 * @param chain how many jobs follow each other, each with all tasks
 */
public record ArrayShape(int tasks, int maxArraySize, Optional<Integer> maxParallel, int chain) {
  /** The default of MaxArraySize in slurm.conf(5), for a plan without a value. */
  private static final int DEFAULT_SIZE = 1001;

  /**
   * The most indices in one sbatch argument. Linux accepts 128 KiB in one argument
   * (MAX_ARG_STRLEN); an index has up to seven digits and a comma.
   */
  private static final int MOST_INDICES = 15_000;

  /** Reads the shape from plan.json. */
  public static ArrayShape of(PlanFile plan) {
    return new ArrayShape(
        plan.tasks(), plan.maxArraySize().orElse(DEFAULT_SIZE), plan.maxParallel(), plan.chain());
  }

  /**
   * The tasks of one submission.
   *
   * @param tasks the numbers of the tasks in the run
   * @param offset the task number at array index 0
   * @param array the value of sbatch's {@code --array}; empty if the script's own value applies
   */
  public record Part(IndexRange tasks, int offset, Optional<String> array) {}

  /** Returns the submissions that these tasks need, in order. */
  public List<Part> parts(IndexRange wanted) {
    if (wanted.indices().size() == tasks && tasks <= maxArraySize) {
      return List.of(new Part(wanted, 0, Optional.empty()));
    }
    Map<Integer, List<List<Integer>>> byOffset = new LinkedHashMap<>();
    int count = 0;
    for (int task : wanted.indices()) {
      int offset = task / maxArraySize * maxArraySize;
      List<List<Integer>> lists = byOffset.computeIfAbsent(offset, none -> new ArrayList<>());
      if (lists.isEmpty() || lists.get(lists.size() - 1).size() == MOST_INDICES) {
        lists.add(new ArrayList<>());
        count++;
      }
      lists.get(lists.size() - 1).add(task);
    }
    List<Part> parts = new ArrayList<>();
    for (Map.Entry<Integer, List<List<Integer>>> lists : byOffset.entrySet()) {
      for (List<Integer> list : lists.getValue()) {
        parts.add(part(new IndexRange(list), lists.getKey(), count));
      }
    }
    return parts;
  }

  /** Returns a single submission of these tasks with a given offset. */
  Part part(IndexRange part, int offset) {
    return part(part, offset, 1);
  }

  private Part part(IndexRange part, int offset, int parts) {
    boolean asInScript = part.indices().size() == tasks;
    return new Part(
        part, offset, asInScript ? Optional.empty() : Optional.of(array(part, offset, parts)));
  }

  /** Slurm's %limit counts for each array alone, so the run's limit is divided among its arrays. */
  private String array(IndexRange part, int offset, int parts) {
    String indices = part.plus(-offset).toString();
    int all = (tasks + maxArraySize - 1) / maxArraySize;
    return maxParallel.isEmpty()
        ? indices
        : indices + "%" + Math.max(1, maxParallel.get() / Math.max(all, parts));
  }
}
