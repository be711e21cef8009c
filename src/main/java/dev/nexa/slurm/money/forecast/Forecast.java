package dev.nexa.slurm.money.forecast;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * The cost of a period if the spending goes on as it did so far.
 *
 * <p>The method is linear: what was spent so far, divided by the time that has passed of the
 * period, times the length of the period. Nothing else is known of the future. There is no forecast
 * before one day has passed, because one run would decide it.
 *
 * @param first the period's first day, which begins at midnight in UTC
 * @param last the period's last day
 * @param asOf the time of the forecast
 * @param spent what was spent so far
 * @param total the forecast for the whole period; for a period that is over, what was spent; empty
 *     if less than a day of it has passed
 */
public record Forecast(
    LocalDate first, LocalDate last, Instant asOf, Money spent, Optional<Money> total) {
  /** The name of the method, for documents. */
  public static final String METHOD = "linear";

  private static final Duration LEAST = Duration.ofDays(1);

  /** Returns the forecast of a period. */
  public static Forecast linear(Money spent, LocalDate first, LocalDate last, Instant asOf) {
    return new Forecast(first, last, asOf, spent, total(spent, first, last, asOf));
  }

  private static Optional<Money> total(Money spent, LocalDate first, LocalDate last, Instant asOf) {
    Duration all = Duration.between(begin(first), begin(last.plusDays(1)));
    Duration passed = Duration.between(begin(first), asOf);
    return passed.compareTo(all) >= 0
        ? Optional.of(spent)
        : passed.compareTo(LEAST) < 0 ? Optional.empty() : Optional.of(scaled(spent, all, passed));
  }

  private static Instant begin(LocalDate day) {
    return day.atStartOfDay(ZoneOffset.UTC).toInstant();
  }

  /** Returns the money times {@code times}, divided by {@code parts}, rounded once. */
  private static Money scaled(Money money, Duration times, Duration parts) {
    int digits = Money.minorDigits(money.currency());
    BigDecimal whole = money.amount().multiply(BigDecimal.valueOf(times.toSeconds()));
    BigDecimal part = BigDecimal.valueOf(parts.toSeconds());
    return new Money(whole.divide(part, digits, RoundingMode.HALF_EVEN), money.currency());
  }

  /** Returns whether the period is over, so that {@link #total} is no guess. */
  public boolean isOver() {
    return !asOf.isBefore(begin(last.plusDays(1)));
  }

  /**
   * Returns the day on which the spending reaches an amount, if it goes on like this; empty if that
   * is behind the period's end, or if there is no forecast.
   */
  public Optional<LocalDate> reaches(Money amount) {
    Money left = amount.minus(spent);
    if (isOver() || total.isEmpty() || spent.amount().signum() <= 0 || left.amount().signum() < 0) {
      return Optional.empty();
    }
    Duration passed = Duration.between(begin(first), asOf);
    BigDecimal seconds =
        left.amount()
            .multiply(BigDecimal.valueOf(passed.toSeconds()))
            .divide(spent.amount(), 0, RoundingMode.DOWN);
    Duration rest = Duration.between(asOf, begin(last.plusDays(1)));
    return seconds.compareTo(BigDecimal.valueOf(rest.toSeconds())) >= 0
        ? Optional.empty()
        : Optional.of(
            LocalDate.ofInstant(asOf.plusSeconds(seconds.longValueExact()), ZoneOffset.UTC));
  }
}
