package dev.nexa.slurm.base.units;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.YearMonth;
import java.time.ZoneId;
import java.util.Optional;

/**
 * A point or period in time as a user types it: a month, a day, a minute or a second, or an age
 * before now.
 *
 * @param from its first instant
 * @param to the first instant after it; equal to {@code from} for an age
 */
public record Moment(Instant from, Instant to) {
  /** The accepted forms, for error messages. */
  public static final String FORMS =
      "a time such as 7d (before now), 2025-11, 2025-11-01, 2025-11-01T12:00 or 2025-11-01T12:00:00Z";

  /**
   * Parses {@code 1d12h}, {@code 2025-11}, {@code 2025-11-01}, {@code 2025-11-01T12:00}, {@code
   * 2025-11-01T12:00:00}, and the last two with {@code Z} or {@code +01:00}. A time of day is a
   * period of one second.
   *
   * @param zone for a text without a zone
   * @param now the time that an age is subtracted from
   * @throws IllegalArgumentException if the text has another form
   */
  public static Moment parse(String text, ZoneId zone, Instant now) {
    Optional<Duration> ago = Span.of(text);
    if (ago.isPresent()) {
      Instant then = now.minus(ago.get());
      // Slurm accepts no time before the epoch.
      Instant known = then.isBefore(Instant.EPOCH) ? Instant.EPOCH : then;
      return new Moment(known, known);
    }
    try {
      if (text.length() == 7) {
        YearMonth month = YearMonth.parse(text);
        return days(month.atDay(1), month.plusMonths(1).atDay(1), zone);
      }
      if (text.length() == 10) {
        LocalDate day = LocalDate.parse(text);
        return days(day, day.plusDays(1), zone);
      }
      Instant at =
          text.endsWith("Z") || text.matches(".*[+-]\\d\\d:\\d\\d")
              ? OffsetDateTime.parse(text).toInstant()
              : LocalDateTime.parse(text).atZone(zone).toInstant();
      return new Moment(at, at.plusSeconds(1));
    } catch (DateTimeException notATime) {
      throw new IllegalArgumentException(
          "expected " + FORMS + ", got '" + text + "'" + Span.hint(text), notATime);
    }
  }

  private static Moment days(LocalDate first, LocalDate next, ZoneId zone) {
    return new Moment(first.atStartOfDay(zone).toInstant(), next.atStartOfDay(zone).toInstant());
  }
}
