package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Span;
import java.time.Duration;
import java.util.Optional;

/**
 * The interval between two passes, such as {@code 5m} or {@code 2h}.
 *
 * <p>The interval is a number of minutes that divides an hour, or of hours that divides a day,
 * because crontab(5) cannot express others.
 *
 * @param minutes 1 to 1440
 */
public record PassInterval(int minutes) {
  private static final int HOUR = 60;
  private static final int DAY = 24 * HOUR;

  /** The interval without {@code --every}. */
  public static final PassInterval DEFAULT = new PassInterval(5);

  /**
   * Parses the value of {@code --every}.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if it is not a valid interval
   */
  public static PassInterval parse(String text) {
    return read(text)
        .orElseThrow(
            () ->
                ErrorCode.OPTION_INVALID.error(
                    ("--every: expected minutes that divide an hour (1m, 2m, 5m, 10m, 15m,"
                            + " 30m) or hours that divide a day (1h, 2h, 6h, 12h, 24h), got '%s'")
                        .formatted(text),
                    Advice.command("", "nexa-slurm", "cron", "install", "--every", "5m")));
  }

  /** Parses the text of {@link #toString}; empty if it is not a valid interval. */
  static Optional<PassInterval> read(String text) {
    long seconds = Span.of(text).map(Duration::toSeconds).orElse(0L);
    long minutes = seconds / 60;
    boolean known =
        minutes > 0
            && seconds % 60 == 0
            && (HOUR % minutes == 0 || (minutes % HOUR == 0 && DAY % minutes == 0));
    return known ? Optional.of(new PassInterval((int) minutes)) : Optional.empty();
  }

  /** Returns the interval as a duration. */
  public Duration duration() {
    return Duration.ofMinutes(minutes);
  }

  /**
   * Returns the five time fields of crontab(5).
   *
   * @param place a number that is fixed for a workspace; it spreads the passes of a cluster's
   *     workspaces over different minutes, so that they do not query accounting together
   */
  String fields(int place) {
    int minute = Math.floorMod(place, Math.min(minutes, HOUR));
    if (minutes == 1) {
      return "* * * * *";
    }
    if (minutes < HOUR) {
      return minute + "-59/" + minutes + " * * * *";
    }
    int hours = minutes / HOUR;
    return minute + (hours == 1 ? " *" : minutes == DAY ? " 0" : " */" + hours) + " * * *";
  }

  @Override
  public String toString() {
    return minutes % HOUR == 0 ? minutes / HOUR + "h" : minutes + "m";
  }
}
