package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import java.util.List;
import java.util.Set;

/**
 * Finished runs that the ledger lacks, because somebody cut or deleted a file of it. A sum without
 * them would be too low, and a budget would be free again.
 *
 * @param left the ids of the runs that were not seen yet; it changes
 */
public record UnlistedRuns(Workspace workspace, Set<String> left) {

  /**
   * Lists the runs that are finished now. Create it before the ledger is read, so that a run that
   * finishes meanwhile does not count as missing.
   */
  public static UnlistedRuns of(Workspace workspace) {
    Set<String> runs = workspace.runsWithCost();
    if (!runs.isEmpty()) {
      workspace.openRuns().forEach(id -> runs.remove(id.value()));
    }
    return new UnlistedRuns(workspace, runs);
  }

  /** Notes that the ledger has a line of the run. */
  public void seen(LedgerLine line) {
    left.remove(line.runId());
  }

  /** Adds a sentence with the number of runs that were not seen, if there are any. */
  public void report(List<String> problems) {
    long missing =
        left.stream().filter(id -> RunId.parse(id).filter(this::hasLine).isPresent()).count();
    if (missing > 0) {
      problems.add(
          ("the ledger lacks %s finished run%s, so sums are too low: `nexa-slurm audit --repair`"
                  + " writes %s again")
              .formatted(missing, missing == 1 ? "" : "s", missing == 1 ? "it" : "them"));
    }
  }

  /**
   * Returns whether the run should be in the ledger. A run that died before its first submission
   * has no end time and no line.
   */
  private boolean hasLine(RunId id) {
    try {
      return RunState.of(workspace.run(id).journal().read()).created().isPresent();
    } catch (RuntimeException unreadable) {
      return true;
    }
  }
}
