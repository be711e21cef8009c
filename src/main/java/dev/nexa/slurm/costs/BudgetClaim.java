package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/**
 * What a run that is about to be submitted asks of a budget that is for it.
 *
 * @param budget as it stands without the run
 * @param needs the most that the run can cost
 */
public record BudgetClaim(BudgetStatus budget, Money needs) {
  private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);

  /** Whether the run is in the budget's currency; in another it can't be held against it. */
  public boolean comparable() {
    return needs.currency().equals(budget.budget().amount().currency());
  }

  /** Whether more than all of the budget would be spent or reserved with the run. */
  public boolean over() {
    return comparable() && needs.amount().compareTo(budget.remaining()) > 0;
  }

  /** Whether so much of the budget would be gone with the run that its keeper wants it told. */
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

  /** One sentence with every number that decides. */
  public String sentence() {
    String name = budget.name() + " of " + budget.period();
    if (!comparable()) {
      return "budget "
          + name
          + " is in "
          + budget.budget().amount().currency()
          + ": this run, in "
          + needs.currency()
          + ", does not count";
    }
    return "budget "
        + name
        + ": needs "
        + needs.amount().toPlainString()
        + ", left "
        + budget.remaining().toPlainString()
        + " of "
        + budget.budget().amount().rounded()
        + " ("
        + budget.spent().toPlainString()
        + " spent, "
        + budget.reserved().toPlainString()
        + " reserved by runs that have not ended)";
  }

  /** The same with the share that would be gone: what a person is warned with. */
  public String warning() {
    BigDecimal amount = budget.budget().amount().amount();
    if (!comparable() || amount.signum() == 0) {
      return sentence();
    }
    return sentence()
        + "; with this run "
        + taken().multiply(HUNDRED).divide(amount, 0, RoundingMode.CEILING).toPlainString()
        + " % of it are gone";
  }

  /** As estimate.json keeps them. */
  public static List<JsonObject> toJson(List<BudgetClaim> claims) {
    List<JsonObject> json = new ArrayList<>();
    for (BudgetClaim claim : claims) {
      json.add(claim.toJson());
    }
    return json;
  }

  private JsonObject toJson() {
    return new JsonObject()
        .with("scope", budget.budget().scope())
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
