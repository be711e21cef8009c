package dev.nexa.slurm.command.records;

import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.summary.GroupBy;
import dev.nexa.slurm.money.summary.RunAnalysis;
import dev.nexa.slurm.money.summary.RunFilter;
import dev.nexa.slurm.run.Context;
import java.util.List;

/** Implements {@code runs analyze}: statistics of finished runs. Reads only the ledger. */
public final class AnalyzeRuns {
  private final Context context;

  public AnalyzeRuns(Context context) {
    this.context = context;
  }

  /**
   * Returns the selected finished runs, in groups.
   *
   * @param problems receives a line for each ledger line that is not counted
   */
  public RunAnalysis analyze(GroupBy by, RunFilter where, List<String> problems) {
    RunAnalysis analysis = new RunAnalysis(by, where);
    FinishedRuns runs = new FinishedRuns(context.workspace());
    runs.forEach(analysis::add);
    problems.addAll(runs.problems());
    return analysis;
  }
}
