package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;

/**
 * The amounts of a run, or of several, in one currency.
 *
 * @param cost by the price book
 * @param credit money taken off, as a positive amount
 * @param api imported API usage that {@code cost} does not have
 * @param billed the amount that providers billed: a second measure of the cost, and no part of
 *     {@link #total}
 */
public record Amounts(BigDecimal cost, BigDecimal credit, BigDecimal api, BigDecimal billed) {
  /** Returns zero with the currency's decimals. */
  public static Amounts zero(String currency) {
    BigDecimal zero = Money.zero(currency).amount();
    return new Amounts(zero, zero, zero, zero);
  }

  /** Returns the cost minus credits, plus API usage. */
  public BigDecimal total() {
    return cost.subtract(credit).add(api);
  }

  /** Returns the sum. */
  public Amounts plus(Amounts other) {
    return new Amounts(
        cost.add(other.cost),
        credit.add(other.credit),
        api.add(other.api),
        billed.add(other.billed));
  }

  /** Returns the difference. */
  public Amounts minus(Amounts other) {
    return new Amounts(
        cost.subtract(other.cost),
        credit.subtract(other.credit),
        api.subtract(other.api),
        billed.subtract(other.billed));
  }

  /** Returns whether all amounts are zero. */
  public boolean isZero() {
    return cost.signum() == 0 && credit.signum() == 0 && api.signum() == 0 && billed.signum() == 0;
  }
}
