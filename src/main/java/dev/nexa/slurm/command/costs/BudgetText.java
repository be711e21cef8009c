package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.job.config.Policy;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Formats budgets as a table, CSV and JSON. */
final class BudgetText {
  private static final Columns<BudgetStatus> COLUMNS =
      new Columns<BudgetStatus>()
          .text("scope", status -> status.budget().scope())
          .text("name", BudgetText::name)
          .text("period", BudgetStatus::period)
          .text("currency", status -> status.budget().amount().currency())
          .money("budget", status -> status.budget().amount().rounded().amount())
          .money("spent", BudgetStatus::spent)
          .money("reserved", BudgetStatus::reserved)
          .rare()
          .money("remaining", BudgetStatus::remaining)
          .ratio("used_ratio", status -> status.usedRatio().orElse(null))
          .text("state", BudgetStatus::standing)
          .number("runs", BudgetStatus::runs)
          .number("runs_of_other_currencies", BudgetStatus::otherCurrencies)
          .as("IN OTHER CURRENCIES")
          .rare();

  private BudgetText() {}

  private static @Nullable String name(BudgetStatus status) {
    String name = status.budget().name();
    return name.isEmpty() ? null : name;
  }

  /** Returns a row for each budget, with every column. */
  static Listing<BudgetStatus> listing(List<BudgetStatus> budgets) {
    return COLUMNS.of(budgets);
  }

  /**
   * Returns a row for each budget, with the columns that people read. The currency is left out if
   * all budgets have the same; {@link #sameInAllRows} says it.
   */
  static Listing<BudgetStatus> forPeople(List<BudgetStatus> budgets) {
    List<String> names =
        new ArrayList<>(
            List.of(
                "scope",
                "name",
                "period",
                "budget",
                "spent",
                "reserved",
                "remaining",
                "used_ratio",
                "state",
                "runs_of_other_currencies"));
    if (currencies(budgets).size() > 1) {
      names.add(3, "currency");
    }
    return COLUMNS.select(names.toArray(new String[0])).of(budgets).withoutRare();
  }

  /** Returns a line with the currency if all budgets have the same. */
  static String sameInAllRows(List<BudgetStatus> budgets) {
    Set<String> currencies = currencies(budgets);
    return currencies.size() == 1 ? "in " + currencies.iterator().next() + "\n" : "";
  }

  private static Set<String> currencies(List<BudgetStatus> budgets) {
    Set<String> currencies = new HashSet<>();
    budgets.forEach(status -> currencies.add(status.budget().amount().currency()));
    return currencies;
  }

  /** Returns a line for each budget of a project, account or user that no run ever named. */
  static List<String> unnamed(List<BudgetStatus> budgets, boolean settled) {
    List<String> notes = new ArrayList<>();
    for (BudgetStatus status : budgets) {
      // Accounting names the account of a run.
      boolean known = settled || !status.budget().scope().equals("account");
      if (known && !status.isNamed()) {
        notes.add(
            "note: no run so far has the "
                + status.name()
                + ", so its budget counts nothing; check the name in the policy's `budgets`"
                + (status.budget().scope().equals("project")
                    ? ": a run has the project of its tag, tags: [project:"
                        + status.budget().name()
                        + "]"
                    : ""));
      }
    }
    return notes;
  }

  /** Returns a note for each budget that an earlier one has the runs and the period of. */
  static List<String> twice(List<BudgetStatus> budgets) {
    List<String> notes = new ArrayList<>();
    Set<List<String>> seen = new HashSet<>();
    for (BudgetStatus status : budgets) {
      Policy.Budget budget = status.budget();
      String runs = (budget.scope() + " " + budget.name()).strip();
      if (!seen.add(List.of(runs, budget.period(), budget.amount().currency()))) {
        notes.add(
            "note: the policy has two budgets for "
                + runs
                + " by "
                + budget.period()
                + "; both hold, so the smaller amount decides");
      }
    }
    return notes;
  }

  /** Returns the JSON document of the budgets. */
  static JsonObject json(List<BudgetStatus> budgets, SpentAsOf asOf, List<String> problems) {
    return new JsonObject()
        .with("schema_version", 1)
        .with("budgets", COLUMNS.of(budgets).json())
        .with("as_of", asOf.pass().orElse(null))
        .with("unsettled_runs", asOf.unsettled())
        .with("problems", problems);
  }
}
