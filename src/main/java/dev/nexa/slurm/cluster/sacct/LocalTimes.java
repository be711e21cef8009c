package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.units.SlurmSize;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.OptionalLong;

/**
 * Reads sacct's times: the cluster's local time without a zone ({@code 2026-11-21T21:10:10}), or
 * epoch seconds if SLURM_TIME_FORMAT was {@code %s}.
 */
final class LocalTimes {
  static final long UNKNOWN = -1;
  static final long UNREADABLE = -2;

  private final ZoneRules rules;

  LocalTimes(ZoneId zone) {
    rules = zone.getRules();
  }

  /**
   * Returns epoch seconds. A local time that occurs twice, because the clock was put back, reads as
   * its first occurrence.
   *
   * @return {@link #UNKNOWN} for {@code Unknown}, {@code None} and other words for no value; {@link
   *     #UNREADABLE} for any other text that is no time
   */
  long read(String text) {
    if (isNothing(text)) {
      return UNKNOWN;
    }
    OptionalLong seconds = SlurmSize.count(text);
    if (seconds.isPresent() && text.length() > 4) {
      return seconds.getAsLong() > 0xFFFF_FFFDL ? UNREADABLE : seconds.getAsLong();
    }
    if (isNumber(text)) {
      // 0 and NO_VAL are no times, and a number of up to four digits is no time of a job.
      return UNKNOWN;
    }
    try {
      return text.length() == 19
          ? local(text)
          : inRange(OffsetDateTime.parse(text).toEpochSecond());
    } catch (DateTimeException | NumberFormatException notATime) {
      return UNREADABLE;
    }
  }

  private long local(String text) {
    boolean formed =
        text.charAt(4) == '-'
            && text.charAt(7) == '-'
            && (text.charAt(10) == 'T' || text.charAt(10) == ' ')
            && text.charAt(13) == ':'
            && text.charAt(16) == ':';
    if (!formed) {
      return UNREADABLE;
    }
    LocalDateTime time =
        LocalDateTime.of(
            number(text, 0, 4),
            number(text, 5, 7),
            number(text, 8, 10),
            number(text, 11, 13),
            number(text, 14, 16),
            number(text, 17, 19));
    return inRange(time.toEpochSecond(rules.getOffset(time)));
  }

  /**
   * Returns how many seconds later the same local time occurs again; 0 if it occurs once.
   *
   * @param text a text that {@link #read} accepts
   */
  long again(String text) {
    if (rules.isFixedOffset() || text.length() != 19 || text.charAt(4) != '-') {
      return 0;
    }
    try {
      List<ZoneOffset> offsets = rules.getValidOffsets(LocalDateTime.parse(text.replace(' ', 'T')));
      return offsets.size() < 2
          ? 0
          : offsets.get(0).getTotalSeconds() - offsets.get(1).getTotalSeconds();
    } catch (DateTimeException notATime) {
      return 0;
    }
  }

  private static long inRange(long seconds) {
    return seconds <= 0 || seconds > 0xFFFF_FFFDL ? UNREADABLE : seconds;
  }

  private static int number(String text, int from, int to) {
    return Integer.parseInt(text, from, to, 10);
  }

  private static boolean isNumber(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns whether the text is one of the words that Slurm's commands print for a missing value.
   */
  static boolean isNothing(String text) {
    return switch (text) {
      case "", "Unknown", "None", "INVALID", "N/A", "n/a", "(null)", "NONE", "UNLIMITED" -> true;
      default -> text.startsWith("#####");
    };
  }
}
