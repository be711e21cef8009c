package dev.nexa.slurm.money.forecast;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How a budget is used up, day by day, and when it will be.
 *
 * @param budget the amount of the whole period
 * @param forecast what the period will cost
 * @param days each day from the period's first day to the day of the forecast, or to the period's
 *     end
 * @param usedUpOn the first of these days on which nothing was left; empty if something is left
 * @param expectedOn the day on which nothing will be left if the spending goes on like this; empty
 *     if the budget lasts to the period's end, or is used up already
 */
public record BurnDown(
    Money budget,
    Forecast forecast,
    List<Day> days,
    Optional<LocalDate> usedUpOn,
    Optional<LocalDate> expectedOn) {
  /**
   * One day.
   *
   * @param spent what was spent on this day
   * @param soFar what was spent from the period's first day to this day
   * @param left the budget minus {@code soFar}; negative if it is exceeded
   * @param even what would be left if each day of the period took the same share
   */
  public record Day(
      LocalDate date, BigDecimal spent, BigDecimal soFar, BigDecimal left, BigDecimal even) {}

  /**
   * Returns the burn-down of a budget.
   *
   * @param spend what was spent, in the budget's currency
   * @param first the period's first day
   * @param last the period's last day
   * @param asOf the time of the forecast
   */
  public static BurnDown of(
      Money budget, SpendByDay spend, LocalDate first, LocalDate last, Instant asOf) {
    Forecast forecast = Forecast.linear(spend.between(first, last), first, last, asOf);
    LocalDate today = LocalDate.ofInstant(asOf, ZoneOffset.UTC);
    List<Day> days = new ArrayList<>();
    long length = ChronoUnit.DAYS.between(first, last) + 1;
    Optional<LocalDate> usedUp = Optional.empty();
    for (SpendByDay.Day day : spend.each(first, today.isBefore(last) ? today : last)) {
      BigDecimal left = budget.amount().subtract(day.soFar());
      days.add(
          new Day(day.date(), day.spent(), day.soFar(), left, even(budget, days.size(), length)));
      if (usedUp.isEmpty() && left.signum() <= 0 && day.soFar().signum() > 0) {
        usedUp = Optional.of(day.date());
      }
    }
    Optional<LocalDate> expected = usedUp.isPresent() ? Optional.empty() : forecast.reaches(budget);
    return new BurnDown(budget, forecast, List.copyOf(days), usedUp, expected);
  }

  private static BigDecimal even(Money budget, int before, long length) {
    int digits = Money.minorDigits(budget.currency());
    BigDecimal left = budget.amount().multiply(BigDecimal.valueOf(length - before - 1));
    return left.divide(BigDecimal.valueOf(length), digits, RoundingMode.HALF_EVEN);
  }

  /**
   * Returns the day on which the budget is or will be used up; empty if it lasts to the period's
   * end.
   */
  public Optional<LocalDate> usedUp() {
    return usedUpOn.or(() -> expectedOn);
  }
}
