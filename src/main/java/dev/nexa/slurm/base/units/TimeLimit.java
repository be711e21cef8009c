package dev.nexa.slurm.base.units;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses and prints time limits.
 *
 * <p>Accepts Slurm's forms (sbatch(1), {@code --time}): {@code minutes}, {@code minutes:seconds},
 * {@code hours:minutes:seconds}, {@code days-hours}, {@code days-hours:minutes} and {@code
 * days-hours:minutes:seconds}. Also accepts the forms of {@link Span}, such as {@code 12h}. Slurm's
 * limits are whole minutes, so seconds are rounded up.
 */
public final class TimeLimit {
  private static final Pattern SLURM =
      Pattern.compile("(?:(\\d{1,5})-)?(\\d{1,9})(?::(\\d{1,9}))?(?::(\\d{1,9}))?");

  /** The accepted forms, for error messages. */
  public static final String FORMS =
      "a time limit: 45 (minutes), 30:00 (minutes:seconds), 12:00:00, 1-12, 1-12:30, 1-12:30:00, 12h, 90m or 1d12h";

  /** The accepted forms of other lengths of time, for error messages. */
  public static final String EXACT_FORMS =
      "a length of time: 30s, 45 (minutes), 30:00 (minutes:seconds), 12:00:00, 1-12, 12h, 90m or 1d12h";

  private TimeLimit() {}

  /**
   * Parses a limit and returns it in whole minutes, rounded up.
   *
   * @throws IllegalArgumentException if the text has another form, is zero, or exceeds 365 days
   */
  public static Duration parse(String text) {
    Duration exact = read(text, FORMS);
    long minutes = (exact.toSeconds() + 59) / 60;
    if (minutes == 0 || minutes > 365L * 24 * 60) {
      throw new IllegalArgumentException(
          "expected a time limit between 1 minute and 365 days, got '" + text + "'");
    }
    return Duration.ofMinutes(minutes);
  }

  /**
   * Parses a length of time that is no limit of Slurm's, in the same forms, and keeps its seconds.
   *
   * @throws IllegalArgumentException if the text has another form, is zero, or exceeds 365 days
   */
  public static Duration parseExact(String text) {
    Duration exact = read(text, EXACT_FORMS);
    if (exact.isZero() || exact.compareTo(Duration.ofDays(365)) > 0) {
      throw new IllegalArgumentException(
          "expected a length of time between 1 second and 365 days, got '" + text + "'");
    }
    return exact;
  }

  private static Duration read(String text, String forms) {
    Optional<Duration> span = Span.of(text);
    if (span.isPresent()) {
      return span.get();
    }
    Matcher slurm = SLURM.matcher(text);
    if (!slurm.matches()) {
      throw wrong(text, forms);
    }
    long first = number(slurm, 2);
    long second = number(slurm, 3);
    long third = number(slurm, 4);
    return slurm.group(1) != null || slurm.group(4) != null
        ? seconds(number(slurm, 1), first, second, third)
        : seconds(0, 0, first, second);
  }

  /**
   * Returns the error for a text of another form; for a fraction, it says how to write the limit.
   */
  private static IllegalArgumentException wrong(String text, String forms) {
    boolean bare = text.matches("\\d*\\.\\d+");
    Optional<String> right = Span.respelled(bare ? text + "h" : text);
    return new IllegalArgumentException(
        right.isPresent()
            ? "expected "
                + forms.substring(0, forms.indexOf(':'))
                + " such as 12h or 90m, got '"
                + text
                + "': write "
                + right.get()
                + (bare ? " for " + text + " hours" : "")
            : "expected " + forms + ", got '" + text + "'");
  }

  private static Duration seconds(long days, long hours, long minutes, long seconds) {
    return Duration.ofSeconds(((days * 24 + hours) * 60 + minutes) * 60 + seconds);
  }

  private static long number(Matcher matcher, int group) {
    String digits = matcher.group(group);
    return digits == null ? 0 : Long.parseLong(digits);
  }

  /** Returns the limit as {@code D-HH:MM:SS}, which every Slurm command reads alike. */
  public static String format(Duration limit) {
    return limit.toDays() + "-" + timeOfDay(limit);
  }

  private static String timeOfDay(Duration time) {
    return two(time.toHoursPart())
        + ":"
        + two(time.toMinutesPart())
        + ":"
        + two(time.toSecondsPart());
  }

  private static String two(long number) {
    return number < 0 || number > 9 ? Long.toString(number) : "0" + number;
  }

  /** Returns a duration in words: {@code 1 day 12 hours}, {@code 30 minutes}, {@code 0 seconds}. */
  public static String words(Duration duration) {
    long seconds = duration.toSeconds();
    StringBuilder words = new StringBuilder();
    word(words, seconds / 86_400, "day");
    word(words, seconds / 3600 % 24, "hour");
    word(words, seconds / 60 % 60, "minute");
    word(words, seconds % 60, "second");
    return words.length() == 0 ? "0 seconds" : words.toString();
  }

  /** Returns seconds in words, rounded to minutes from ten minutes up. */
  public static String roundedWords(long seconds) {
    return words(Duration.ofSeconds(seconds < 600 ? seconds : (seconds + 30) / 60 * 60));
  }

  private static void word(StringBuilder words, long number, String unit) {
    if (number != 0) {
      words.append(words.length() == 0 ? "" : " ").append(number);
      words.append(' ').append(unit).append(number == 1 ? "" : "s");
    }
  }

  /**
   * Returns an elapsed time as Slurm prints it: {@code 02:03:04}, or {@code 1-02:03:04} from one
   * day on.
   */
  public static String clock(Duration elapsed) {
    return elapsed.toDays() > 0 ? format(elapsed) : timeOfDay(elapsed);
  }

  /** Returns a time in its two largest units, such as {@code 2m 05s} with a blank between them. */
  public static String inTwoUnits(long seconds, String gap) {
    if (seconds < 60) {
      return seconds + "s";
    }
    if (seconds < 3600) {
      return seconds / 60 + "m" + gap + two(seconds % 60) + "s";
    }
    return seconds < 86_400
        ? seconds / 3600 + "h" + gap + two(seconds / 60 % 60) + "m"
        : seconds / 86_400 + "d" + gap + two(seconds / 3600 % 24) + "h";
  }
}
