package dev.nexa.slurm.app;

import dev.nexa.slurm.costs.FinishedRuns;
import dev.nexa.slurm.costs.GroupBy;
import dev.nexa.slurm.costs.RunAnalysis;
import dev.nexa.slurm.costs.Where;
import java.util.List;

/** {@code runs analyze}: how finished runs went, from the ledger alone. */
public final class AnalyzeRuns {
  private final Nexa nexa;

  public AnalyzeRuns(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * The finished runs that are meant, in groups.
   *
   * @param problems told of lines that are not counted
   */
  public RunAnalysis analyze(GroupBy by, Where where, List<String> problems) {
    RunAnalysis analysis = new RunAnalysis(by, where);
    FinishedRuns runs = new FinishedRuns(nexa.workspace());
    runs.forEach(analysis::add);
    problems.addAll(runs.problems());
    return analysis;
  }
}
