package dev.nexa.slurm.units;

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
 * A time that a person names: a month, a day, a second, or how long before now. A month or a day is
 * all of it.
 *
 * @param from when it begins
 * @param to when it is over; the same for how long before now
 */
public record Moment(Instant from, Instant to) {
  /** What is accepted, in words fit for an error message. */
  public static final String FORMS =
      "a time such as 7d (before now), 2025-11, 2025-11-01, 2025-11-01T12:00 or 2025-11-01T12:00:00Z";

  /**
   * Reads {@code 1d12h}, {@code 2025-11}, {@code 2025-11-01}, {@code 2025-11-01T12:00}, {@code
   * 2025-11-01T12:00:00}, and the last two with {@code Z} or {@code +01:00}.
   *
   * @param zone of what has none
   * @throws IllegalArgumentException if it is none of them
   */
  public static Moment parse(String text, ZoneId zone, Instant now) {
    Optional<Duration> ago = Span.of(text);
    if (ago.isPresent()) {
      Instant then = now.minus(ago.get());
      // Slurm knows no time before that.
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
      throw new IllegalArgumentException("expected " + FORMS + ", got '" + text + "'", notATime);
    }
  }

  private static Moment days(LocalDate first, LocalDate next, ZoneId zone) {
    return new Moment(first.atStartOfDay(zone).toInstant(), next.atStartOfDay(zone).toInstant());
  }
}
