package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.money.bills.Bills;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.UnlistedRuns;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.OtherRuns;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes the use of the policy's budgets from the ledger, the unfinished runs and the bills, for
 * {@code costs budget}.
 */
public record BudgetUsage(Context context) {
  /**
   * The budgets and the runs that have not ended.
   *
   * @param open a line for each unfinished run, with its reservation
   */
  public record Use(List<BudgetStatus> budgets, List<LedgerLine> open) {}

  /**
   * Returns each budget in the period that contains a day, in the policy's order.
   *
   * @param problems receives a line for each record that is not counted
   */
  public List<BudgetStatus> on(LocalDate day, List<String> problems) {
    return on(context.configs().policy(), day, problems);
  }

  List<BudgetStatus> on(Policy policy, LocalDate day, List<String> problems) {
    return policy.budgets().isEmpty() ? List.of() : use(policy, day, problems).budgets();
  }

  /**
   * Returns each budget, and the unfinished runs with their reservations.
   *
   * @param problems receives a line for each record that is not counted
   */
  public Use use(LocalDate day, List<String> problems) {
    Policy policy = context.configs().policy();
    return policy.budgets().isEmpty()
        ? new Use(List.of(), new OtherRuns(context.workspace()).unfinished(problems))
        : use(policy, day, problems);
  }

  private Use use(Policy policy, LocalDate day, List<String> problems) {
    // The order matters: a run is closed after its ledger line exists, so read the open runs before
    // the ledger.
    UnlistedRuns unlisted = UnlistedRuns.of(context.workspace());
    List<LedgerLine> open = new OtherRuns(context.workspace()).unfinished(problems);
    Charges charges = new Bills(context.workspace()).charges();
    List<BudgetStatus> budgets = new ArrayList<>();
    for (Policy.Budget budget : policy.budgets()) {
      budgets.add(new BudgetStatus(budget, day, open, charges));
    }
    FinishedRuns runs = new FinishedRuns(context.workspace());
    runs.forEach(
        run -> {
          unlisted.seen(run);
          budgets.forEach(budget -> budget.add(run));
        });
    problems.addAll(runs.problems());
    unlisted.report(problems);
    return new Use(budgets, open);
  }
}
