package dev.nexa.slurm.base.units;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Formats points in time for people: to the second, with the zone. */
public final class PlainTime {
  private static final DateTimeFormatter FORM = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

  private PlainTime() {}

  /** Returns {@code 2025-11-01 14:32:00 UTC}. Run ids and the ledger's months are in UTC, too. */
  public static String utc(Instant time) {
    return FORM.format(time.atOffset(ZoneOffset.UTC)) + " UTC";
  }
}
