package dev.nexa.slurm.base.units;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses lengths of time: {@code 30s}, {@code 15m}, {@code 12h}, {@code 7d}, {@code 2w}, {@code
 * 1d12h}.
 *
 * <p>Larger units come first, each at most once, with whole numbers of at most nine digits. A
 * number without a unit is not accepted. For Slurm's own notation see {@link TimeLimit}.
 */
public final class Span {
  /** The accepted forms, for error messages. */
  public static final String FORMS = "30s, 15m, 12h, 7d, 2w or 1d12h";

  private static final String UNITS = "wdhms";
  private static final long[] SECONDS = {7 * 86_400, 86_400, 3600, 60, 1};
  private static final int MOST_DIGITS = 9;

  private Span() {}

  /**
   * Returns how a length of time is written that people write with a fraction or a whole word:
   * {@code 90m} for {@code 1.5h} or {@code 1.5 hours}. Seconds are rounded up; empty for another
   * text, and for zero.
   */
  public static Optional<String> respelled(String text) {
    Matcher spoken =
        Pattern.compile(
                "(\\d{0,6}(?:\\.\\d{1,6})?) ?([wdhms])"
                    + "(?:eeks?|ays?|rs?|ours?|ins?|inutes?|ecs?|econds?)?",
                Pattern.CASE_INSENSITIVE)
            .matcher(text.strip());
    if (!spoken.matches() || spoken.group(1).isEmpty()) {
      return Optional.empty();
    }
    int unit = UNITS.indexOf(Character.toLowerCase(spoken.group(2).charAt(0)));
    long seconds =
        new BigDecimal(spoken.group(1))
            .multiply(BigDecimal.valueOf(SECONDS[unit]))
            .setScale(0, RoundingMode.CEILING)
            .longValueExact();
    return seconds == 0 ? Optional.empty() : Optional.of(inOneUnit(seconds, unit));
  }

  /** Returns a length of time as a config has it, in one unit: {@code 2d}, {@code 90m}. */
  public static String text(Duration length) {
    return inOneUnit(length.toSeconds(), 1);
  }

  /** Returns the seconds in the largest unit that divides them, days at most. */
  private static String inOneUnit(long seconds, int unit) {
    int largest = Math.max(unit, 1);
    while (seconds % SECONDS[largest] != 0) {
      largest++;
    }
    return seconds / SECONDS[largest] + UNITS.substring(largest, largest + 1);
  }

  /** Returns {@code ": write 90m"} for a text such as {@code 1.5h}, else an empty text. */
  public static String hint(String text) {
    return respelled(text).map(right -> ": write " + right).orElse("");
  }

  /** Returns the length of time; empty if the text has another form. */
  public static Optional<Duration> of(String text) {
    long seconds = 0;
    int unit = -1;
    for (int at = 0; at < text.length(); at++) {
      int from = at;
      long number = 0;
      while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
        number = number * 10 + text.charAt(at++) - '0';
        if (at - from > MOST_DIGITS) {
          return Optional.empty();
        }
      }
      int next = at < text.length() ? UNITS.indexOf(text.charAt(at)) : -1;
      if (at == from || next <= unit) {
        return Optional.empty();
      }
      seconds += number * SECONDS[next];
      unit = next;
    }
    return unit < 0 ? Optional.empty() : Optional.of(Duration.ofSeconds(seconds));
  }
}
