package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.format.DateTimeFormatter;
import java.time.format.TextStyle;
import java.util.Locale;
import java.util.Optional;

/** Writes numbers and times as the page shows them. report.js writes them in the same form. */
final class Figures {
  /** Stands for a value that is not known. */
  static final String NONE = "\u2013";

  private static final int HOUR = 3600;
  private static final BigDecimal SMALLEST_TICK = new BigDecimal("0.0001");
  private static final BigDecimal MILLION = BigDecimal.TEN.pow(6);
  private static final BigDecimal BILLION = BigDecimal.TEN.pow(9);
  private static final BigDecimal LARGEST_TICK = BigDecimal.TEN.pow(13);

  private Figures() {}

  /** Returns an amount with the currency's decimals: {@code 1,234.50}. */
  static String money(BigDecimal amount, String currency) {
    return String.format(Locale.ROOT, "%,." + Money.minorDigits(currency) + "f", amount);
  }

  /** Returns an amount; a dash if it is not known. */
  static String money(Optional<BigDecimal> amount, String currency) {
    return amount.map(known -> money(known, currency)).orElse(NONE);
  }

  /**
   * Returns a value beside an axis. A chart has room for at most eight characters: {@code 750,000},
   * {@code 1.5 M}, {@code 2.5 bn}, {@code 2.5e-05}.
   */
  static String tick(BigDecimal value) {
    BigDecimal size = value.abs();
    if (size.signum() > 0
        && (size.compareTo(SMALLEST_TICK) < 0 || size.compareTo(LARGEST_TICK) >= 0)) {
      return String.format(Locale.ROOT, "%.1e", value);
    }
    return size.compareTo(BILLION) >= 0
        ? axis(value.movePointLeft(9)) + " bn"
        : size.compareTo(MILLION) >= 0 ? axis(value.movePointLeft(6)) + " M" : axis(value);
  }

  /** Returns an amount without decimals if it is large, for axes: {@code 1,200}. */
  static String axis(BigDecimal amount) {
    BigDecimal plain = amount.stripTrailingZeros();
    return String.format(Locale.ROOT, "%,." + Math.max(0, plain.scale()) + "f", plain);
  }

  /**
   * Returns seconds as hours with one decimal: {@code 1,234.5}. Less than six minutes has four:
   * {@code 0.0044}.
   */
  static String hours(long seconds) {
    return String.format(
        Locale.ROOT,
        seconds > 0 && seconds < HOUR / 10 ? "%,.4f" : "%,.1f",
        BigDecimal.valueOf(seconds).divide(BigDecimal.valueOf(HOUR), 4, RoundingMode.HALF_EVEN));
  }

  /** Returns a whole number: {@code 12,345}. */
  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** Returns a length of time in its two largest units: {@code 2h 05m}. */
  static String duration(long seconds) {
    return TimeLimit.inTwoUnits(seconds, " ");
  }

  /** Returns a length of time; a dash if it is not known. */
  static String duration(Optional<Long> seconds) {
    return seconds.map(Figures::duration).orElse(NONE);
  }

  /** Returns a time in UTC without seconds: {@code 2025-11-01 14:32}. */
  static String time(Instant at) {
    return at.toString().substring(0, 16).replace('T', ' ');
  }

  /** Returns a time on an axis of this many seconds: with seconds if the axis is short. */
  static String time(Instant at, double axisSeconds) {
    return at.toString().substring(0, axisSeconds < 600 ? 19 : 16).replace('T', ' ');
  }

  /** Returns a time; a dash if it is not known. */
  static String time(Optional<Instant> at) {
    return at.map(Figures::time).orElse(NONE);
  }

  /** Returns a share as whole percent: {@code 42 %}; a dash if the whole is zero. */
  static String percent(BigDecimal part, BigDecimal whole) {
    return whole.signum() == 0
        ? NONE
        : part.movePointRight(2).divide(whole, 0, RoundingMode.HALF_EVEN).toPlainString() + " %";
  }

  /** Returns a coordinate with at most one decimal. */
  static String at(double coordinate) {
    double rounded = Math.round(coordinate * 10) / 10.0;
    return rounded == Math.rint(rounded)
        ? Long.toString(Math.round(rounded))
        : Double.toString(rounded);
  }

  /** Returns the coordinates of a point. */
  static String at(double x, double y) {
    return at(x) + " " + at(y);
  }

  /** Returns a text that stands for no text: a dash if it is empty. */
  static String word(String text) {
    return text.isEmpty() ? NONE : text;
  }

  /** Returns {@code Nov} for {@code 2025-11}. */
  static String briefMonth(String month) {
    return YearMonth.parse(month).getMonth().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
  }

  /** Returns {@code November 2025} for {@code 2025-11}. */
  static String wholeMonth(String month) {
    return DateTimeFormatter.ofPattern("MMMM yyyy", Locale.ENGLISH).format(YearMonth.parse(month));
  }

  /** Returns {@code 1 Nov}. */
  static String day(LocalDate day) {
    return DateTimeFormatter.ofPattern("d MMM", Locale.ENGLISH).format(day);
  }
}
