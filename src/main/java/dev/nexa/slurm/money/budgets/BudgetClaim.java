package dev.nexa.slurm.money.budgets;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;

/**
 * The amount that a run needs from one budget, before it is submitted.
 *
 * @param budget the budget's status without the run
 * @param needs the run's highest cost
 */
public record BudgetClaim(BudgetStatus budget, Money needs) {
  private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);

  /** Returns whether the run has the budget's currency. If not, the run does not count. */
  public boolean comparable() {
    return needs.currency().equals(budget.budget().amount().currency());
  }

  /** Returns whether the run needs more than the budget has left. */
  public boolean over() {
    return comparable() && needs.amount().compareTo(budget.remaining()) > 0;
  }

  /** Returns whether the budget, with the run, reaches the percentage at which it warns. */
  public boolean warns() {
    BigDecimal amount = budget.budget().amount().amount();
    return comparable()
        && taken()
                .multiply(HUNDRED)
                .compareTo(amount.multiply(BigDecimal.valueOf(budget.budget().warnPercent())))
            >= 0;
  }

  private BigDecimal taken() {
    return budget.spent().add(budget.reserved()).add(needs.amount());
  }

  /** Returns a sentence with all amounts that matter. */
  public String sentence() {
    String name = budget.name() + " of " + budget.period();
    if (!comparable()) {
      return "budget %s is in %s: this run, in %s, does not count"
          .formatted(name, budget.budget().amount().currency(), needs.currency());
    }
    return ("budget %s: needs %s, left %s of %s (%s spent, %s reserved by runs that"
            + " have not ended)")
        .formatted(
            name,
            needs.amount().toPlainString(),
            budget.remaining().toPlainString(),
            budget.budget().amount().rounded(),
            budget.spent().toPlainString(),
            budget.reserved().toPlainString());
  }

  /** Returns {@link #sentence}, and the used percentage of the budget with this run. */
  public String warning() {
    BigDecimal amount = budget.budget().amount().amount();
    if (!comparable() || amount.signum() == 0) {
      return sentence();
    }
    BigDecimal gone = taken().multiply(HUNDRED).divide(amount, 0, RoundingMode.CEILING);
    return sentence() + "; with this run " + gone.toPlainString() + " % of it are gone";
  }

  /** Returns the claims as estimate.json stores them. */
  public static List<JsonObject> toJson(List<BudgetClaim> claims) {
    return claims.stream().map(BudgetClaim::toJson).toList();
  }

  private JsonObject toJson() {
    return new JsonObject()
        .with("scope", budget.budget().scope().word())
        .with("name", budget.budget().name().isEmpty() ? null : budget.budget().name())
        .with("period", budget.period())
        .with("currency", budget.budget().amount().currency())
        .with("budget", budget.budget().amount().rounded().amount().toPlainString())
        .with("spent", budget.spent().toPlainString())
        .with("reserved", budget.reserved().toPlainString())
        .with("needs", comparable() ? needs.amount().toPlainString() : null)
        .with("over", over());
  }
}
