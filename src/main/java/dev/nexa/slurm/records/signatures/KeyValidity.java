package dev.nexa.slurm.records.signatures;

import static dev.nexa.slurm.base.error.Arguments.require;

import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * Reads the times of allowed_signers: {@code YYYYMMDD[HHMM[SS]][Z]}, in the machine's time unless
 * they end in {@code Z}.
 */
final class KeyValidity {
  private static final String ZONES = "/zoneinfo/";

  private KeyValidity() {}

  /**
   * Returns the zone that a link such as /etc/localtime points to; UTC if it is missing, or is no
   * link to a zone.
   */
  static ZoneId zone(Path localtime) {
    try {
      String zone = localtime.toRealPath().toString();
      int at = zone.indexOf(ZONES);
      return at < 0
          ? ZoneOffset.UTC
          : ZoneId.of(zone.substring(at + ZONES.length()).replaceFirst("^(posix|right)/", ""));
    } catch (IOException | DateTimeException unknown) {
      return ZoneOffset.UTC;
    }
  }

  static Instant parse(String text, ZoneId local) {
    boolean utc = text.endsWith("Z") || text.endsWith("z");
    String digits = utc ? text.substring(0, text.length() - 1) : text;
    require(
        digits.matches("\\d{8}(\\d{4}(\\d{2})?)?"),
        "expected a time such as 20261101, 202611011430 or 20261101143000Z, got '" + text + "'");
    String padded = digits + "000000".substring(0, 14 - digits.length());
    try {
      return LocalDateTime.of(
              Integer.parseInt(padded, 0, 4, 10),
              Integer.parseInt(padded, 4, 6, 10),
              Integer.parseInt(padded, 6, 8, 10),
              Integer.parseInt(padded, 8, 10, 10),
              Integer.parseInt(padded, 10, 12, 10),
              Integer.parseInt(padded, 12, 14, 10))
          .atZone(utc ? ZoneOffset.UTC : local)
          .toInstant();
    } catch (DateTimeException notATime) {
      throw new IllegalArgumentException("'" + text + "' is no time", notATime);
    }
  }
}
