package dev.nexa.slurm.units;

import java.time.Duration;
import java.util.Optional;

/**
 * A length of time with its units: {@code 30s}, {@code 15m}, {@code 12h}, {@code 7d}, {@code 2w},
 * {@code 1d12h}; larger units first, each once, whole numbers of nine digits at most. A bare number
 * is none: whoever takes one says what it counts. Slurm's own six forms are {@link TimeLimit}'s,
 * and those that sacct prints are usage's.
 */
public final class Span {
  /** What is accepted, in words fit for an error message. */
  public static final String FORMS = "30s, 15m, 12h, 7d, 2w or 1d12h";

  private static final String UNITS = "wdhms";
  private static final long[] SECONDS = {7 * 86_400, 86_400, 3600, 60, 1};
  private static final int MOST_DIGITS = 9;

  private Span() {}

  /** The length; empty if the text is none. */
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
