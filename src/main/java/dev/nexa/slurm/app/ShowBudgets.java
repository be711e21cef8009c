package dev.nexa.slurm.app;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.costs.Bills;
import dev.nexa.slurm.costs.BudgetStatus;
import dev.nexa.slurm.costs.Charges;
import dev.nexa.slurm.costs.FinishedRuns;
import dev.nexa.slurm.costs.RunLine;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import java.io.UncheckedIOException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

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
    // Before the open runs, and those before the ledger: a run is closed after its line is there.
    Set<String> untold = policy.budgets().isEmpty() ? Set.of() : nexa.workspace().runsWithCost();
    List<RunLine> open = new OtherRuns(nexa.workspace()).unfinished(problems);
    if (!untold.isEmpty()) {
      for (RunId id : nexa.workspace().openRuns()) {
        untold.remove(id.value());
      }
    }
    Charges charges = new Bills(nexa.workspace()).charges();
    List<BudgetStatus> budgets = new ArrayList<>();
    for (Policy.Budget budget : policy.budgets()) {
      budgets.add(new BudgetStatus(budget, day, open, charges));
    }
    if (!budgets.isEmpty()) {
      FinishedRuns runs = new FinishedRuns(nexa.workspace());
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

  /** A ledger that somebody deleted, or cut, must not open the budgets. */
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

  /** One that died before its first submission has no time, and no line in a month's ledger. */
  private boolean hasLine(RunId id) {
    try {
      return RunState.of(nexa.workspace().run(id).journal().read()).created().isPresent();
    } catch (NexaException | UncheckedIOException | IllegalArgumentException unreadable) {
      return true;
    }
  }
}
