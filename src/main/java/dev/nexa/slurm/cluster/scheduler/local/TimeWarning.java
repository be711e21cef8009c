package dev.nexa.slurm.cluster.scheduler.local;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The signal that a job gets before its time limit (sbatch(1), {@code --signal}).
 *
 * @param toScript whether the batch script gets it ({@code B:}); otherwise only job steps do, which
 *     the local scheduler does not have
 * @param signal the signal's name without SIG, or its number
 * @param secondsBefore seconds before the limit; Slurm may send it up to a minute earlier
 */
record TimeWarning(boolean toScript, String signal, int secondsBefore) {
  private static final Pattern FORM =
      Pattern.compile("(?:([RB]{1,2}):)?(?:SIG)?([A-Z0-9]+)(?:@(\\d{1,9}))?");
  private static final List<String> NAMES =
      List.of(
          "HUP", "INT", "QUIT", "ABRT", "KILL", "ALRM", "TERM", "USR1", "USR2", "URG", "CONT",
          "STOP", "TSTP", "TTIN", "TTOU");
  private static final int DEFAULT_SECONDS = 60;
  private static final int MAX_SECONDS = 65_535;
  private static final int MAX_SIGNAL = 64;

  /** Reads the option; empty if it is not set. */
  static Optional<TimeWarning> of(OptionReader options) {
    return options.get(SbatchOption.SIGNAL).map(TimeWarning::parse);
  }

  private static TimeWarning parse(String text) {
    Matcher matcher = FORM.matcher(text.toUpperCase(Locale.ROOT));
    if (!matcher.matches() || !isSignal(matcher.group(2))) {
      throw SbatchRefusal.error("Invalid --signal specification");
    }
    String seconds = matcher.group(3);
    int before = seconds == null ? DEFAULT_SECONDS : Integer.parseInt(seconds);
    if (before > MAX_SECONDS) {
      throw SbatchRefusal.error("Invalid --signal specification");
    }
    String flags = matcher.group(1);
    return new TimeWarning(flags != null && flags.contains("B"), matcher.group(2), before);
  }

  private static boolean isSignal(String signal) {
    if (signal.matches("\\d{1,2}")) {
      int number = Integer.parseInt(signal);
      return number > 0 && number <= MAX_SIGNAL;
    }
    return NAMES.contains(signal);
  }
}
