package dev.nexa.slurm.insight.html;

import java.time.LocalDate;
import java.time.YearMonth;
import java.time.format.TextStyle;
import java.util.Locale;

/** Names of months and days in English. */
final class MonthNames {
  private MonthNames() {}

  /** Returns {@code Nov} for {@code 2025-11}. */
  static String brief(String month) {
    return YearMonth.parse(month).getMonth().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
  }

  /** Returns {@code November 2025} for {@code 2025-11}. */
  static String whole(String month) {
    YearMonth parsed = YearMonth.parse(month);
    return parsed.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH)
        + " "
        + parsed.getYear();
  }

  /** Returns {@code 1 Nov}. */
  static String day(LocalDate day) {
    return day.getDayOfMonth()
        + " "
        + day.getMonth().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
  }
}
