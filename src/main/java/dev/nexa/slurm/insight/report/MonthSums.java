package dev.nexa.slurm.insight.report;

import java.math.BigDecimal;

/**
 * One month in one currency, of all runs or of one project, as finance asks for it.
 *
 * @param month such as {@code 2025-11}
 * @param failed the runs that did not complete
 * @param cost by the price book
 * @param credit what the cluster gave back, as a positive amount
 * @param api imported API usage that the cost does not have
 * @param tokens API tokens that are part of the cost
 * @param billed what providers billed
 * @param reserved the most that the runs could cost, by their estimates
 * @param difference cost minus {@code reserved}, of runs with an estimate
 * @param wasted the cost of attempts without a result
 * @param expected the runs whose estimate had an expected cost
 */
public record MonthSums(
    String month,
    int runs,
    int failed,
    BigDecimal cost,
    BigDecimal credit,
    BigDecimal api,
    BigDecimal tokens,
    BigDecimal billed,
    BigDecimal reserved,
    BigDecimal difference,
    BigDecimal wasted,
    Expected expected) {

  /**
   * The runs that had an expected cost.
   *
   * @param estimate what was expected of them
   * @param actual what they cost
   */
  public record Expected(BigDecimal estimate, BigDecimal actual, int runs) {
    static final Expected NONE = new Expected(BigDecimal.ZERO, BigDecimal.ZERO, 0);

    Expected plus(Expected more) {
      return new Expected(estimate.add(more.estimate), actual.add(more.actual), runs + more.runs);
    }
  }

  /** Returns a month without runs. */
  static MonthSums none(String month) {
    BigDecimal zero = BigDecimal.ZERO;
    return new MonthSums(
        month, 0, 0, zero, zero, zero, zero, zero, zero, zero, zero, Expected.NONE);
  }

  /** Returns the cost minus credits, plus API usage. */
  public BigDecimal total() {
    return cost.subtract(credit).add(api);
  }
}
