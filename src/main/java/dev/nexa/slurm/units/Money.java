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

  private static final int WHOLE_DIGITS = 18;
  private static final int DECIMALS = 9;
  private static final int PRICE_WHOLE_DIGITS = 30;
  private static final int PRICE_DECIMALS = 100;

  /**
   * Reads an amount that somebody else has written: {@code 12.50}.
   *
   * @throws IllegalArgumentException if it has a sign or an exponent, or more than 18 digits before
   *     the point or 9 behind it: {@code 1e999999999}, written out, would be a gigabyte
   */
  public static Money parse(String text, String currency) {
    return new Money(plain(text, WHOLE_DIGITS, DECIMALS), currency);
  }

  /**
   * Reads a price for one unit likewise; a part of a price, discounted, may have many decimals.
   *
   * @throws IllegalArgumentException if it is more than any price book can hold
   */
  public static BigDecimal price(String text) {
    return plain(text, PRICE_WHOLE_DIGITS, PRICE_DECIMALS);
  }

  private static BigDecimal plain(String text, int mostBefore, int mostBehind) {
    int point = text.indexOf('.');
    int before = point < 0 ? text.length() : point;
    int behind = point < 0 ? 0 : text.length() - point - 1;
    boolean plain = before > 0 && before <= mostBefore && behind <= mostBehind;
    plain &= point < 0 || behind > 0;
    for (int i = 0; plain && i < text.length(); i++) {
      plain = i == point || (text.charAt(i) >= '0' && text.charAt(i) <= '9');
    }
    if (!plain) {
      throw new IllegalArgumentException(
          "expected a plain number of at most "
              + mostBefore
              + " digits, and "
              + mostBehind
              + " behind the point, such as 12.50, got '"
              + (text.length() > 40 ? text.substring(0, 40) + "…" : text)
              + "'");
    }
    return new BigDecimal(text);
  }

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
