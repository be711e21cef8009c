package dev.nexa.slurm.usage;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;

/** A time that a person names. */
public final class Since {
  private Since() {}

  /**
   * Reads {@code 7d}, {@code 12h}, {@code 30m}, {@code 2026-11-01}, {@code 2026-11-01T08:00:00} (in
   * the zone) or {@code 2026-11-01T08:00:00Z}.
   *
   * @param option as it was typed, for the message
   * @throws NexaException if it is none of them
   */
  public static Instant parse(String option, String text, ZoneId zone, Instant now) {
    try {
      if (text.matches("\\d{1,6}[smhdw]")) {
        return now.minus(length(text));
      }
      if (text.length() == 10) {
        return LocalDate.parse(text).atStartOfDay(zone).toInstant();
      }
      return text.endsWith("Z") || text.matches(".*[+-]\\d\\d:\\d\\d")
          ? OffsetDateTime.parse(text).toInstant()
          : LocalDateTime.parse(text).atZone(zone).toInstant();
    } catch (DateTimeException notATime) {
      throw new NexaException(
          ExitCode.USAGE,
          option + ": expected 7d, 12h, 2026-11-01 or 2026-11-01T08:00:00Z, got '" + text + "'",
          notATime);
    }
  }

  private static Duration length(String text) {
    long number = Long.parseLong(text.substring(0, text.length() - 1));
    return switch (text.charAt(text.length() - 1)) {
      case 's' -> Duration.ofSeconds(number);
      case 'm' -> Duration.ofMinutes(number);
      case 'h' -> Duration.ofHours(number);
      case 'w' -> Duration.ofDays(7 * number);
      default -> Duration.ofDays(number);
    };
  }
}
