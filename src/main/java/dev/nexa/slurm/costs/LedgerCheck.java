package dev.nexa.slurm.costs;

import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.Workspace;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The ledger's newest line of each run against what the run's own files say. */
public final class LedgerCheck {
  private final Map<String, RunLine> lines = new HashMap<>();
  private final FinishedRuns finished;

  /** Reads the ledger. */
  public LedgerCheck(Workspace workspace) {
    finished = new FinishedRuns(workspace);
    finished.forEach(line -> lines.put(line.runId(), line));
  }

  /** Lines that can't be read, and why. */
  public List<String> problems() {
    return finished.problems();
  }

  /**
   * What is wrong with a run's line; empty where nothing is.
   *
   * @param status as its cost file has it
   * @param total likewise
   */
  public Optional<String> difference(RunId run, String status, BigDecimal total) {
    RunLine line = lines.get(run.value());
    if (line == null) {
      return Optional.of("ledger: no line of " + run);
    }
    BigDecimal cost = line.cost();
    if (cost != null && cost.compareTo(total) == 0 && status.equals(line.status())) {
      return Optional.empty();
    }
    return Optional.of(
        "ledger: "
            + run
            + " is "
            + line.status()
            + " and cost "
            + (cost == null ? "nothing" : cost.toPlainString())
            + ", its cost file says "
            + status
            + " and "
            + total.toPlainString());
  }
}
