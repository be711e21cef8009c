package dev.nexa.slurm.scheduler.local;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The signal a job wants before its time limit (sbatch(1), {@code --signal}).
 *
 * @param toScript whether the batch script gets it ({@code B:}); else only steps do, which the
 *     local scheduler has none of
 * @param signal its name without SIG, or its number
 * @param secondsBefore how long before the limit; Slurm may send it up to a minute earlier
 */
record Warning(boolean toScript, String signal, int secondsBefore) {
  private static final Pattern FORM =
      Pattern.compile("(?:([RB]{1,2}):)?(?:SIG)?([A-Z0-9]+)(?:@(\\d{1,9}))?");
  private static final List<String> NAMES =
      List.of(
          "HUP", "INT", "QUIT", "ABRT", "KILL", "ALRM", "TERM", "USR1", "USR2", "URG", "CONT",
          "STOP", "TSTP", "TTIN", "TTOU");
  private static final int DEFAULT_SECONDS = 60;
  private static final int MAX_SECONDS = 65_535;
  private static final int MAX_SIGNAL = 64;

  /** Reads the option, if it was given. */
  static Optional<Warning> of(Options options) {
    return options.get(Option.SIGNAL).map(Warning::parse);
  }

  private static Warning parse(String text) {
    Matcher matcher = FORM.matcher(text.toUpperCase(Locale.ROOT));
    if (!matcher.matches() || !isSignal(matcher.group(2))) {
      throw Refusal.error("Invalid --signal specification");
    }
    String seconds = matcher.group(3);
    int before = seconds == null ? DEFAULT_SECONDS : Integer.parseInt(seconds);
    if (before > MAX_SECONDS) {
      throw Refusal.error("Invalid --signal specification");
    }
    String flags = matcher.group(1);
    return new Warning(flags != null && flags.contains("B"), matcher.group(2), before);
  }

  private static boolean isSignal(String signal) {
    if (signal.matches("\\d{1,2}")) {
      int number = Integer.parseInt(signal);
      return number > 0 && number <= MAX_SIGNAL;
    }
    return NAMES.contains(signal);
  }
}
