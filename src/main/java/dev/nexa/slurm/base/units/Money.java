package dev.nexa.slurm.base.units;

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
   * Parses an amount such as {@code 12.50} from another program or file.
   *
   * @throws IllegalArgumentException if it has a sign or an exponent, or more than 18 digits before
   *     the point or 9 after it; {@code 1e999999999}, written as plain digits, is a gigabyte
   */
  public static Money parse(String text, String currency) {
    return new Money(plain(text, WHOLE_DIGITS, DECIMALS), currency);
  }

  /**
   * Parses a price for one unit. A discounted price may have up to 100 decimals.
   *
   * @throws IllegalArgumentException if it has a sign or an exponent, or more than 30 digits before
   *     the point or 100 after it
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

  /** Returns zero with the currency's decimals. */
  public static Money zero(String currency) {
    return new Money(BigDecimal.ZERO, currency).rounded();
  }

  /** Returns quantity times unit price, rounded once, half-even, to the currency's minor unit. */
  public static Money line(BigDecimal quantity, BigDecimal unitPrice, String currency) {
    return new Money(quantity.multiply(unitPrice), currency).rounded();
  }

  /** Returns the amount rounded half-even to the currency's decimals (2 for USD, 0 for JPY). */
  public Money rounded() {
    return new Money(amount.setScale(minorDigits(currency), RoundingMode.HALF_EVEN), currency);
  }

  /**
   * Returns the amount for people: {@code 12.50 USD}, or {@code less than 0.01 USD} for a sum that
   * is 0 only because its parts were rounded.
   *
   * @param exact the amount before rounding
   */
  public String words(BigDecimal exact) {
    return (isRoundedAway(exact) ? "less than " : "") + upTo(exact);
  }

  /**
   * Returns the upper bound of a cost for people: {@code at most 12.50 USD}, or {@code less than
   * 0.01 USD} as in {@link #words}.
   */
  public String atMost(BigDecimal exact) {
    return (isRoundedAway(exact) ? "less than " : "at most ") + upTo(exact);
  }

  /**
   * Returns the amount for a table whose other columns have the currency: {@code 12.50}, or {@code
   * <0.01} for a sum that is 0 only because its parts were rounded.
   */
  public String cell(BigDecimal exact) {
    return (isRoundedAway(exact) ? "<" : "") + upTo(exact).amount.toPlainString();
  }

  /**
   * Returns this amount, or the next amount above {@code exact} for a sum that is 0 only because
   * its parts were rounded.
   */
  public Money upTo(BigDecimal exact) {
    return isRoundedAway(exact)
        ? new Money(exact.setScale(minorDigits(currency), RoundingMode.CEILING), currency)
        : this;
  }

  private boolean isRoundedAway(BigDecimal exact) {
    return amount.signum() == 0 && exact.signum() > 0;
  }

  /**
   * Returns the exact sum.
   *
   * @throws IllegalArgumentException if the currencies differ
   */
  public Money plus(Money other) {
    requireSame(other);
    return new Money(amount.add(other.amount), currency);
  }

  /**
   * Returns the exact difference.
   *
   * @throws IllegalArgumentException if the currencies differ
   */
  public Money minus(Money other) {
    requireSame(other);
    return new Money(amount.subtract(other.amount), currency);
  }

  /**
   * Compares the amounts.
   *
   * @throws IllegalArgumentException if the currencies differ
   */
  @Override
  public int compareTo(Money other) {
    requireSame(other);
    return amount.compareTo(other.amount);
  }

  /** Returns the number of decimals of a currency (ISO 4217); 2 for an unknown code. */
  public static int minorDigits(String currency) {
    // Fast path: java.util.Currency reads its table from disk.
    if (currency.equals("USD") || currency.equals("EUR")) {
      return 2;
    }
    try {
      return Math.max(0, Currency.getInstance(currency).getDefaultFractionDigits());
    } catch (IllegalArgumentException notInTheTable) {
      return 2;
    }
  }

  /** Returns the amount and the currency: {@code 12.50 USD}. */
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
