package dev.nexa.slurm.base.units;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * One month or several in a row, in UTC.
 *
 * @param first the first month
 * @param last the last month, not before the first
 */
public record MonthRange(YearMonth first, YearMonth last) {
  private static final String BETWEEN = "..";

  /**
   * Creates a range.
   *
   * @throws IllegalArgumentException if it ends before it begins
   */
  public MonthRange {
    if (last.isBefore(first)) {
      throw new IllegalArgumentException(
          "%1$s..%2$s ends before it begins (did you mean '%2$s..%1$s'?)".formatted(first, last));
    }
  }

  /**
   * Reads a month, or two with {@code ..} between them; empty if it is neither.
   *
   * @param text such as {@code 2025-11}, {@code this}, {@code last} or {@code 2025-09..2025-11}
   * @throws IllegalArgumentException if the range ends before it begins
   */
  public static Optional<MonthRange> parse(String text, Instant now) {
    int at = text.indexOf(BETWEEN);
    Optional<YearMonth> first = month(at < 0 ? text : text.substring(0, at), now);
    Optional<YearMonth> last = at < 0 ? first : month(text.substring(at + 2), now);
    return first.flatMap(one -> last.map(other -> new MonthRange(one, other)));
  }

  /**
   * Reads a month; empty if it is none.
   *
   * @param text such as {@code 2025-11}, {@code this} or {@code last}
   */
  public static Optional<YearMonth> month(String text, Instant now) {
    YearMonth current = YearMonth.from(now.atOffset(ZoneOffset.UTC));
    if (text.equals("this") || text.equals("last")) {
      return Optional.of(text.equals("this") ? current : current.minusMonths(1));
    }
    try {
      return text.matches("\\d{4}-\\d{2}") ? Optional.of(YearMonth.parse(text)) : Optional.empty();
    } catch (DateTimeException noSuchMonth) {
      return Optional.empty();
    }
  }

  /** Returns whether a month, such as {@code 2025-11}, lies in the range. */
  public boolean contains(String month) {
    return month.compareTo(first.toString()) >= 0 && month.compareTo(last.toString()) <= 0;
  }

  /**
   * Returns the range in the form that a user types: {@code 2025-11}, or {@code 2025-09..2025-11}.
   */
  @Override
  public String toString() {
    return first.equals(last) ? first.toString() : first + BETWEEN + last;
  }
}
