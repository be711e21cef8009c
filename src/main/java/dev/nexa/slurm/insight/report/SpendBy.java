package dev.nexa.slurm.insight.report;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * Spend of one currency by month, for each value of a field. The sums equal {@code costs --by
 * month,FIELD}: cost minus credits plus API usage.
 *
 * @param field the field, such as {@code project}
 * @param rows the values with the most spend first
 */
public record SpendBy(String field, List<Row> rows) {
  /**
   * One value of the field.
   *
   * @param key the value; empty for runs without one
   * @param amounts an amount for each of the report's months
   */
  public record Row(String key, List<BigDecimal> amounts) {
    /** Returns the sum of all months. */
    public BigDecimal total() {
      return amounts.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    /** Returns the amount of the last month. */
    public BigDecimal last() {
      return amounts.get(amounts.size() - 1);
    }

    /** Returns the amount of the month before the last one; empty if there is none. */
    public Optional<BigDecimal> before() {
      return amounts.size() < 2 ? Optional.empty() : Optional.of(amounts.get(amounts.size() - 2));
    }
  }
}
