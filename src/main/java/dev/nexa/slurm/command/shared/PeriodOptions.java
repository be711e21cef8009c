package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Moment;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The options that say which period of accounting a command reads.
 *
 * <p>A time without a zone is in this host's zone, as in sacct. Sums over finished runs use UTC
 * instead, because their months are in UTC.
 */
public final class PeriodOptions {
  private static final int MOST_DAYS = 36_500;

  private final OptionSpec since;
  private final OptionSpec timezone;
  private final String example;

  /** From when until when; never empty. */
  public record Period(Instant begin, Instant end) {}

  /**
   * Adds the options to a command.
   *
   * @param since the help text of {@code --since}
   * @param timezone the beginning of the help text of {@code --timezone}
   * @param example a length of time that an error advises
   */
  public PeriodOptions(Subcommand command, String since, String timezone, String example) {
    this.since = command.option("--since TIME", since);
    this.timezone =
        command.option("--timezone ZONE", timezone + " (Europe/Berlin); else this host's.");
    this.example = example;
  }

  /** Returns the value of {@code --since}; a duration counts back from {@code now}. */
  public Optional<Instant> since(Instant now) {
    Optional<Instant> time = time(since, now);
    if (time.isPresent() && time.get().isAfter(now)) {
      throw wrong(since, future(since, now), since.longestName() + " 7d");
    }
    return time;
  }

  /**
   * Returns the period until the time that another option gives; that option's default is now.
   *
   * @param usual how far the period goes back if {@code --since} was not typed
   * @param command gets a note if the period ends in the future
   * @throws NexaException if the period is empty
   */
  public Period until(OptionSpec until, Duration usual, Instant now, Subcommand command) {
    Instant begin = since(now).orElseGet(() -> now.minus(usual));
    Instant end = time(until, now).orElse(now);
    if (end.isAfter(now)) {
      command.note(until.longestName() + ": " + future(until, now) + ", so the period ends now");
      end = now;
    }
    if (!begin.isBefore(end)) {
      throw Subcommand.invalid(
          "--since " + begin + " is not before --until " + end + ": the period is empty",
          "the earlier time belongs to --since: --since 30d --until 1d");
    }
    return new Period(begin, end);
  }

  private static String future(OptionSpec option, Instant now) {
    return "%s is in the future; now it is %s"
        .formatted(Subcommand.value(option).orElse(""), now.truncatedTo(ChronoUnit.SECONDS));
  }

  private Optional<Instant> time(OptionSpec option, Instant now) {
    Optional<String> text = Subcommand.value(option);
    try {
      return text.map(time -> Moment.parse(time, zone(), now).from());
    } catch (IllegalArgumentException notATime) {
      throw wrong(option, notATime.getMessage(), option.longestName() + " " + example);
    }
  }

  /** Returns the zone of times without a zone. */
  public ZoneId zone() {
    Optional<String> name = Subcommand.value(timezone);
    try {
      return name.map(ZoneId::of).orElseGet(ZoneId::systemDefault);
    } catch (DateTimeException noZone) {
      throw wrong(
          timezone,
          "expected a zone such as Europe/Berlin or UTC, got '%s'%s"
              .formatted(
                  name.orElse(""), Nearest.hint(name.orElse(""), ZoneId.getAvailableZoneIds())),
          "--timezone UTC");
    }
  }

  /**
   * Formats a time to the second with its zone, such as {@code 2025-11-01T00:00:00+01:00
   * (Europe/Berlin)}.
   */
  public String told(Instant time) {
    ZonedDateTime there = time.truncatedTo(ChronoUnit.SECONDS).atZone(zone());
    return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(there) + " (" + zone().getId() + ")";
  }

  private static NexaException wrong(OptionSpec option, @Nullable String message, String advice) {
    return Subcommand.invalid(option.longestName() + ": " + message, advice);
  }

  /**
   * Returns the number of days that an option gives.
   *
   * @param option the option's name, for the message
   * @throws NexaException if the value is no whole number from 0 to 36500
   */
  public static int days(String option, String typed) {
    if (typed.matches("\\d{1,5}") && Integer.parseInt(typed) <= MOST_DAYS) {
      return Integer.parseInt(typed);
    }
    throw Subcommand.invalid(
        option + ": expected a whole number of days from 0 to 36500, got '" + typed + "'",
        option + " 7");
  }
}
