package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.command.shared.RunRecordFile;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.CostFile.Attempt;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.util.List;
import java.util.OptionalInt;

/** Implements {@code costs show}: reads a run's cost file, attempt by attempt. */
public final class ShowCost {
  private final Context context;

  public ShowCost(Context context) {
    this.context = context;
  }

  /**
   * A cost file and the cost of each attempt in it.
   *
   * @param ofTask whether the attempts are of one task only
   * @param settled whether the run has ended and its cost is final
   */
  public record Cost(CostFile file, List<Attempt> attempts, boolean ofTask, boolean settled) {}

  /**
   * Returns the cost of the run with this name. For {@code 12345_7}, returns that task's attempts
   * only.
   */
  public Cost of(String reference) {
    RunLookup.Found found = new RunLookup(context.workspace()).find(reference);
    boolean settled = !found.run().isOpen();
    return RunRecordFile.cost(found.run(), cost -> of(cost, found.task(), settled));
  }

  private static Cost of(CostFile cost, OptionalInt task, boolean settled) {
    cost.total();
    List<Attempt> attempts = cost.attempts();
    return task.isEmpty()
        ? new Cost(cost, attempts, false, settled)
        : new Cost(
            cost,
            attempts.stream().filter(one -> one.task() == task.getAsInt()).toList(),
            true,
            settled);
  }
}
