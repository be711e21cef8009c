package dev.nexa.slurm.money.forecast;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The spending on each day (UTC), in one currency. A run counts on the day of its end. */
public final class SpendByDay {
  private final String currency;
  private final NavigableMap<LocalDate, BigDecimal> days = new TreeMap<>();

  /**
   * Creates an empty sum.
   *
   * @param currency the ISO 4217 code of all amounts
   */
  public SpendByDay(String currency) {
    this.currency = currency;
  }

  /**
   * One day.
   *
   * @param spent what was spent on this day
   * @param soFar what was spent from the first day to this day
   */
  public record Day(LocalDate date, BigDecimal spent, BigDecimal soFar) {}

  /** Adds an amount; a credit is negative. */
  public void add(LocalDate day, BigDecimal amount) {
    days.merge(day, amount, BigDecimal::add);
  }

  /** Returns the sum of the days from the first to the last, both included. */
  public Money between(LocalDate first, LocalDate last) {
    BigDecimal sum = Money.zero(currency).amount();
    if (!last.isBefore(first)) {
      for (BigDecimal amount : days.subMap(first, true, last, true).values()) {
        sum = sum.add(amount);
      }
    }
    return new Money(sum, currency);
  }

  /** Returns each day from the first to the last, also the days on which nothing was spent. */
  public List<Day> each(LocalDate first, LocalDate last) {
    List<Day> each = new ArrayList<>();
    BigDecimal zero = Money.zero(currency).amount();
    BigDecimal soFar = zero;
    for (LocalDate day = first; !day.isAfter(last); day = day.plusDays(1)) {
      BigDecimal spent = days.getOrDefault(day, zero);
      soFar = soFar.add(spent);
      each.add(new Day(day, spent, soFar));
    }
    return each;
  }
}
