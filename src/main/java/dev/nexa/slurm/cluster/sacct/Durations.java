package dev.nexa.slurm.cluster.sacct;

/**
 * Reads durations as sacct and scontrol print them: {@code 3-00:00:00}, {@code 08:15:00}, {@code
 * 05:07.250} (minutes, if below an hour), {@code 00:28} ({@code _elapsed_time} in Slurm's
 * src/sacct/print.c).
 */
public final class Durations {
  public static final long UNREADABLE = -2;

  private Durations() {}

  /**
   * Returns the duration in milliseconds; {@link #UNREADABLE}, which is below 0, if the text is no
   * duration.
   */
  public static long millis(String text) {
    int dash = text.indexOf('-');
    long days = dash < 0 ? 0 : digits(text, 0, dash);
    int from = dash + 1;
    int point = text.indexOf('.', from);
    int end = point < 0 ? text.length() : point;
    long seconds = 0;
    int parts = 0;
    while (from <= end) {
      int colon = text.indexOf(':', from);
      int to = colon < 0 || colon > end ? end : colon;
      long part = digits(text, from, to);
      if (part < 0) {
        return UNREADABLE;
      }
      seconds = seconds * 60 + part;
      parts++;
      from = to + 1;
    }
    long millis = point < 0 ? 0 : fraction(text, point + 1);
    boolean formed = dash < 0 ? parts == 2 || parts == 3 : parts == 3;
    return !formed || days < 0 || millis < 0
        ? UNREADABLE
        : (days * 86_400 + seconds) * 1000 + millis;
  }

  private static long fraction(String text, int from) {
    int to = Math.min(text.length(), from + 3);
    long value = digits(text, from, to);
    for (int i = to - from; i < 3 && value >= 0; i++) {
      value *= 10;
    }
    return value;
  }

  private static long digits(String text, int from, int to) {
    if (from >= to || to - from > 9) {
      return UNREADABLE;
    }
    for (int i = from; i < to; i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return UNREADABLE;
      }
    }
    return Long.parseLong(text, from, to, 10);
  }
}
