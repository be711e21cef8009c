package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.job.config.Policy;
import dev.nexa.slurm.money.bills.Bills;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.OtherRuns;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Computes the use of the policy's budgets from the ledger, the unfinished runs and the bills, for
 * {@code costs budget}.
 */
public final class BudgetUsage {
  private final Context context;

  public BudgetUsage(Context context) {
    this.context = context;
  }

  /**
   * Returns each budget in the period that contains a day, in the policy's order.
   *
   * @param problems receives a line for each record that is not counted
   */
  public List<BudgetStatus> on(LocalDate day, List<String> problems) {
    return on(context.configs().policy(), day, problems);
  }

  List<BudgetStatus> on(Policy policy, LocalDate day, List<String> problems) {
    // The order matters: a run is closed after its ledger line exists, so read the open runs before
    // the ledger.
    Set<String> untold = policy.budgets().isEmpty() ? Set.of() : context.workspace().runsWithCost();
    List<LedgerLine> open = new OtherRuns(context.workspace()).unfinished(problems);
    if (!untold.isEmpty()) {
      for (RunId id : context.workspace().openRuns()) {
        untold.remove(id.value());
      }
    }
    Charges charges = new Bills(context.workspace()).charges();
    List<BudgetStatus> budgets = new ArrayList<>();
    for (Policy.Budget budget : policy.budgets()) {
      budgets.add(new BudgetStatus(budget, day, open, charges));
    }
    if (!budgets.isEmpty()) {
      FinishedRuns runs = new FinishedRuns(context.workspace());
      runs.forEach(
          run -> {
            untold.remove(run.runId());
            budgets.forEach(budget -> budget.add(run));
          });
      problems.addAll(runs.problems());
      missing(untold, problems);
    }
    return budgets;
  }

  /**
   * Reports finished runs without a ledger line. A deleted or cut ledger must not free the budgets.
   */
  private void missing(Set<String> untold, List<String> problems) {
    int missing = 0;
    for (String id : untold) {
      missing += RunId.parse(id).map(this::hasLine).orElse(false) ? 1 : 0;
    }
    if (missing > 0) {
      problems.add(
          "the ledger does not tell of "
              + (missing == 1 ? "1 finished run" : missing + " finished runs")
              + ": `nexa-slurm audit --repair` writes "
              + (missing == 1 ? "it" : "them")
              + " again");
    }
  }

  /**
   * Returns whether the run should be in the ledger. A run that died before its first submission
   * has no end time and no line.
   */
  private boolean hasLine(RunId id) {
    try {
      return RunState.of(context.workspace().run(id).journal().read()).created().isPresent();
    } catch (RuntimeException unreadable) {
      return true;
    }
  }
}
