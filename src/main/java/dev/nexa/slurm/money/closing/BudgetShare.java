package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.job.config.site.BudgetScope;
import dev.nexa.slurm.job.config.site.Policy.Budget;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * The amount that a month took from a budget.
 *
 * @param name empty for the budget of all
 * @param period the budget's period: {@code month}, {@code quarter} or {@code year}
 * @param budget the amount of the whole period
 * @param spent the amount that the month's statement has for it
 */
public record BudgetShare(
    BudgetScope scope,
    Optional<String> name,
    String period,
    String currency,
    BigDecimal budget,
    BigDecimal spent) {
  /** All columns. */
  public static final Columns<BudgetShare> COLUMNS =
      new Columns<BudgetShare>()
          .text("scope", share -> share.scope.word())
          .text("name", share -> share.name.orElse(null))
          .text("period", BudgetShare::period)
          .text("currency", BudgetShare::currency)
          .money("budget", BudgetShare::budget)
          .money("spent_in_month", BudgetShare::spent);

  /** Returns a budget of the policy, without an amount spent. */
  public static BudgetShare of(Budget budget) {
    return new BudgetShare(
        budget.scope(),
        budget.name().isEmpty() ? Optional.empty() : Optional.of(budget.name()),
        budget.period(),
        budget.amount().currency(),
        budget.amount().rounded().amount(),
        BigDecimal.ZERO);
  }

  static BudgetShare of(JsonObject json) {
    return new BudgetShare(
        BudgetScope.of(json.text("scope")),
        json.optionalText("name"),
        json.text("period"),
        json.text("currency"),
        new BigDecimal(json.text("budget")),
        BigDecimal.ZERO);
  }

  /** Returns the same budget with the amount that these postings took from it. */
  BudgetShare of(List<Posting> postings) {
    BigDecimal sum =
        postings.stream()
            .filter(posting -> posting.payer().isCounted(scope, name.orElse("")))
            .filter(posting -> posting.currency().equals(currency))
            .map(posting -> posting.amounts().total())
            .reduce(Amounts.zero(currency).total(), BigDecimal::add);
    return new BudgetShare(scope, name, period, currency, budget, sum);
  }
}
