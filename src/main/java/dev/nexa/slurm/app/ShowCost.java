package dev.nexa.slurm.app;

import dev.nexa.slurm.costs.AttemptCost;
import dev.nexa.slurm.files.JsonObject;
import java.util.List;
import java.util.OptionalInt;

/** {@code costs show}: a run's cost file, attempt by attempt. */
public final class ShowCost {
  private final Nexa nexa;

  public ShowCost(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * The cost file, and what each attempt in it comes to.
   *
   * @param ofTask whether only one task's attempts were asked for
   */
  public record Cost(JsonObject file, List<AttemptCost> attempts, boolean ofTask) {}

  /** Of the run that a person means; of {@code 12345_7}, that task's attempts. */
  public Cost of(String reference) {
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference);
    return RecordFile.read(found.run().cost(), cost -> of(cost, found.task()));
  }

  private static Cost of(JsonObject cost, OptionalInt task) {
    cost.decimal("total");
    cost.text("currency");
    List<AttemptCost> attempts = AttemptCost.of(cost);
    return task.isEmpty()
        ? new Cost(cost, attempts, false)
        : new Cost(
            cost, attempts.stream().filter(one -> one.task() == task.getAsInt()).toList(), true);
  }
}
