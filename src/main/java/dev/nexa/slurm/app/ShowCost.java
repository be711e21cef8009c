package dev.nexa.slurm.app;

import dev.nexa.slurm.costs.AttemptCost;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import java.util.List;

/** {@code costs show}: a run's cost file, attempt by attempt. */
public final class ShowCost {
  private final Nexa nexa;

  public ShowCost(Nexa nexa) {
    this.nexa = nexa;
  }

  /** The cost file, and what each attempt in it comes to. */
  public record Cost(JsonObject file, List<AttemptCost> attempts) {}

  /** Of the run that a person means; of {@code 12345_7}, that task's attempts. */
  public Cost of(String reference) {
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference);
    RunFolder run = found.run();
    JsonObject cost = Json.parseObject(DurableFiles.read(run.cost()));
    List<AttemptCost> attempts = AttemptCost.of(cost);
    return new Cost(
        cost,
        found.task().isPresent()
            ? attempts.stream().filter(one -> one.task() == found.task().getAsInt()).toList()
            : attempts);
  }
}
