package dev.nexa.slurm.units;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Currency;

/**
 * An exact amount in one currency.
 *
 * @param amount in the currency's major unit (dollars, not cents)
 * @param currency ISO 4217 code
 */
public record Money(BigDecimal amount, String currency) implements Comparable<Money> {

  public static Money zero(String currency) {
    return new Money(BigDecimal.ZERO, currency).rounded();
  }

  /** Quantity times unit price, rounded once, half-even, to the currency's minor unit. */
  public static Money line(BigDecimal quantity, BigDecimal unitPrice, String currency) {
    return new Money(quantity.multiply(unitPrice), currency).rounded();
  }

  /** The amount with as many decimals as the currency has (2 for USD, 0 for JPY). */
  public Money rounded() {
    return new Money(amount.setScale(minorDigits(currency), RoundingMode.HALF_EVEN), currency);
  }

  public Money plus(Money other) {
    requireSame(other);
    return new Money(amount.add(other.amount), currency);
  }

  public Money minus(Money other) {
    requireSame(other);
    return new Money(amount.subtract(other.amount), currency);
  }

  @Override
  public int compareTo(Money other) {
    requireSame(other);
    return amount.compareTo(other.amount);
  }

  /** Decimal digits of the currency's minor unit; unknown codes count as two. */
  public static int minorDigits(String currency) {
    // USD is nearly every call, and java.util.Currency reads its table from disk.
    if (currency.equals("USD") || currency.equals("EUR")) {
      return 2;
    }
    try {
      return Math.max(0, Currency.getInstance(currency).getDefaultFractionDigits());
    } catch (IllegalArgumentException notInTheTable) {
      return 2;
    }
  }

  /** {@code 12.50 USD}. */
  @Override
  public String toString() {
    return amount.toPlainString() + " " + currency;
  }

  private void requireSame(Money other) {
    if (!currency.equals(other.currency)) {
      throw new IllegalArgumentException("cannot combine " + currency + " with " + other.currency);
    }
  }
}
