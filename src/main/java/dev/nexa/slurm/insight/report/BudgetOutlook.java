package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.money.forecast.BurnDown;
import java.math.BigDecimal;

/**
 * A budget in its period: what was spent day by day, and where its pace leads.
 *
 * @param name such as {@code project nlp}
 * @param period such as {@code 2025-11} or {@code 2025-Q4}
 * @param standing {@code ok}, {@code warning} or {@code exceeded}
 * @param reserved what unfinished runs may still cost
 */
public record BudgetOutlook(
    String name,
    String period,
    String standing,
    BigDecimal spent,
    BigDecimal reserved,
    BurnDown burnDown) {

  /** Returns the currency, an ISO 4217 code. */
  public String currency() {
    return burnDown.budget().currency();
  }

  /** Returns the amount of the whole period. */
  public BigDecimal amount() {
    return burnDown.budget().amount();
  }

  /** Returns the budget minus spent and reserved; negative if it is exceeded. */
  public BigDecimal remaining() {
    return amount().subtract(spent).subtract(reserved);
  }
}
