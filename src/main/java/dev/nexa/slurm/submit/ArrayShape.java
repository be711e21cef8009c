package dev.nexa.slurm.submit;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.IndexRange;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A run's tasks, and what one array of the cluster may hold of them.
 *
 * @param tasks how many the run has
 * @param maxArraySize slurm.conf's MaxArraySize: one more than the highest index
 * @param maxParallel how many may run at once
 * @param chain how many jobs follow each other, each with all tasks
 */
public record ArrayShape(int tasks, int maxArraySize, Optional<Integer> maxParallel, int chain) {
  /** slurm.conf(5)'s default, for runs whose plan does not say. */
  private static final BigDecimal DEFAULT_SIZE = BigDecimal.valueOf(1001);

  /**
   * Indices of one sbatch argument: Linux takes 128 KiB in one (MAX_ARG_STRLEN), and an index has
   * up to seven digits and a comma.
   */
  private static final int MOST_INDICES = 15_000;

  /** What plan.json says. */
  public static ArrayShape of(JsonObject plan) {
    Optional<BigDecimal> atOnce = plan.optionalDecimal("max_parallel");
    return new ArrayShape(
        (int) plan.number("tasks"),
        plan.optionalDecimal("max_array_size").orElse(DEFAULT_SIZE).intValueExact(),
        atOnce.isPresent() ? Optional.of(atOnce.get().intValueExact()) : Optional.empty(),
        plan.optionalDecimal("chain").orElse(BigDecimal.ONE).intValueExact());
  }

  /**
   * What one submission holds.
   *
   * @param tasks in the run's numbers
   * @param offset the task of array index 0
   * @param array sbatch's option; empty where the script says the same
   */
  public record Part(IndexRange tasks, int offset, Optional<String> array) {}

  /** The submissions that these tasks need, in order. */
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

  /** A part of its own, as large as it was. */
  Part part(IndexRange part, int offset) {
    return part(part, offset, 1);
  }

  private Part part(IndexRange part, int offset, int parts) {
    boolean asInScript = part.indices().size() == tasks;
    return new Part(
        part, offset, asInScript ? Optional.empty() : Optional.of(array(part, offset, parts)));
  }

  /** Slurm limits each array of its own; together they may not run more than the run may. */
  private String array(IndexRange part, int offset, int parts) {
    String indices = part.plus(-offset).toString();
    int all = (tasks + maxArraySize - 1) / maxArraySize;
    return maxParallel.isEmpty()
        ? indices
        : indices + "%" + Math.max(1, maxParallel.get() / Math.max(all, parts));
  }
}
