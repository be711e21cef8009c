package dev.nexa.slurm.app;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.costs.Bills;
import dev.nexa.slurm.costs.BudgetStatus;
import dev.nexa.slurm.costs.Charges;
import dev.nexa.slurm.costs.FinishedRuns;
import dev.nexa.slurm.costs.RunLine;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** {@code costs budget}: the policy's budgets against the ledger and the unfinished runs. */
public final class ShowBudgets {
  private final Nexa nexa;

  public ShowBudgets(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * Each budget in the period of a day, in the policy's order.
   *
   * @param problems told of what is not counted
   */
  public List<BudgetStatus> on(LocalDate day, List<String> problems) {
    return on(nexa.configs().policy(), day, problems);
  }

  List<BudgetStatus> on(Policy policy, LocalDate day, List<String> problems) {
    List<RunLine> open = new OtherRuns(nexa.workspace()).unfinished(problems);
    Charges charges = new Bills(nexa.workspace()).charges();
    List<BudgetStatus> budgets = new ArrayList<>();
    for (Policy.Budget budget : policy.budgets()) {
      budgets.add(new BudgetStatus(budget, day, open, charges));
    }
    if (!budgets.isEmpty()) {
      FinishedRuns runs = new FinishedRuns(nexa.workspace());
      runs.forEach(run -> budgets.forEach(budget -> budget.add(run)));
      problems.addAll(runs.problems());
    }
    return budgets;
  }
}
