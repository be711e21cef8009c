package dev.nexa.slurm.insight.report;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;

/**
 * A budget in its period: what was spent day by day, and where its pace leads.
 *
 * @param name such as {@code project nlp}
 * @param standing {@code ok}, {@code warning} or {@code exceeded}
 * @param first the first day of the period
 * @param last the last day of the period
 * @param today the last day of {@code spentByDay}
 * @param spentByDay the amount spent until the end of each day from {@code first} on
 * @param pace the mean spend of a day so far; empty on a period without a whole day
 * @param forecast what is spent at the end of the period at this pace; empty as {@code pace}
 * @param exhausted the day on which the budget is used up at this pace; empty if it lasts
 */
public record BudgetOutlook(
    String name,
    String period,
    String standing,
    String currency,
    BigDecimal amount,
    BigDecimal spent,
    BigDecimal reserved,
    LocalDate first,
    LocalDate last,
    LocalDate today,
    List<BigDecimal> spentByDay,
    Optional<BigDecimal> pace,
    Optional<BigDecimal> forecast,
    Optional<LocalDate> exhausted) {

  /** Returns the budget minus spent and reserved; negative if it is exceeded. */
  public BigDecimal remaining() {
    return amount.subtract(spent).subtract(reserved);
  }
}
