package dev.nexa.slurm.cron;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.units.Span;
import java.time.Duration;
import java.util.Optional;

/**
 * How often passes are made, as {@code 5m} or {@code 2h}: whole minutes that divide an hour, or
 * hours that divide a day, because cron(8) knows no others.
 *
 * @param minutes 1 to 1440
 */
public record Period(int minutes) {
  private static final int HOUR = 60;
  private static final int DAY = 24 * HOUR;

  public static final Period DEFAULT = new Period(5);

  /** What was typed. */
  public static Period parse(String text) {
    return read(text)
        .orElseThrow(
            () ->
                new NexaException(
                    ExitCode.USAGE,
                    "--every: expected minutes that divide an hour (1m, 2m, 5m, 10m, 15m, 30m) or hours"
                        + " that divide a day (1h, 2h, 6h, 12h, 24h), got '"
                        + text
                        + "'",
                    "nexa-slurm cron install --every 5m"));
  }

  /** What {@link #toString} wrote; empty if it is no period. */
  static Optional<Period> read(String text) {
    long seconds = Span.of(text).map(Duration::toSeconds).orElse(0L);
    long minutes = seconds / 60;
    boolean known =
        minutes > 0
            && seconds % 60 == 0
            && (HOUR % minutes == 0 || (minutes % HOUR == 0 && DAY % minutes == 0));
    return known ? Optional.of(new Period((int) minutes)) : Optional.empty();
  }

  public Duration duration() {
    return Duration.ofMinutes(minutes);
  }

  /**
   * The five time fields of crontab(5).
   *
   * @param place any number, the same for a workspace each time: the workspaces of a cluster should
   *     not all ask its accounting in the same second
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
