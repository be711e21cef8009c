package dev.nexa.slurm.app;

import dev.nexa.slurm.costs.Accuracy;
import dev.nexa.slurm.costs.Bills;
import dev.nexa.slurm.costs.Charges;
import dev.nexa.slurm.costs.CostSummary;
import dev.nexa.slurm.costs.FinishedRuns;
import dev.nexa.slurm.costs.GroupBy;
import dev.nexa.slurm.costs.Where;
import dev.nexa.slurm.report.FocusRows;
import java.util.List;
import java.util.function.Consumer;

/** {@code costs} and {@code costs accuracy}: from the ledger and imported bills alone. */
public final class SummarizeCosts {
  private static final int PIECE = 1 << 16;

  private final Nexa nexa;

  public SummarizeCosts(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * What finished runs cost.
   *
   * @param problems told of what is not counted
   */
  public CostSummary summarize(GroupBy by, Where where, List<String> problems) {
    CostSummary summary = new CostSummary(by, where, new Bills(nexa.workspace()).charges());
    FinishedRuns runs = new FinishedRuns(nexa.workspace());
    runs.forEach(summary::add);
    problems.addAll(runs.problems());
    return summary;
  }

  /** The same, run by run, as FOCUS has it. */
  public void focus(Where where, List<String> problems, Consumer<String> out) {
    Charges charges = new Bills(nexa.workspace()).charges();
    FinishedRuns runs = new FinishedRuns(nexa.workspace());
    FocusRows rows = new FocusRows();
    StringBuilder text = new StringBuilder(2 * PIECE).append(FocusRows.heading());
    runs.forEach(
        run -> {
          if (where.accepts(run)) {
            rows.lines(text, run, charges.apiRows(run.runId()));
            if (text.length() > PIECE) {
              out.accept(text.toString());
              text.setLength(0);
            }
          }
        });
    out.accept(text.toString());
    problems.addAll(runs.problems());
  }

  /** How good estimates have been. */
  public Accuracy accuracy(GroupBy by, Where where, List<String> problems) {
    Accuracy accuracy = new Accuracy(by, where);
    FinishedRuns runs = new FinishedRuns(nexa.workspace());
    runs.forEach(accuracy::add);
    problems.addAll(runs.problems());
    return accuracy;
  }
}
