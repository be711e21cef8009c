package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Moment;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The options that commands on accounting share: whose jobs, and since when.
 *
 * <p>A time without a zone is in this host's zone, as in sacct. Sums over finished runs use UTC
 * instead, because their months are in UTC.
 */
public final class JobOptions {
  private final OptionSpec user;
  private final OptionSpec since;
  private final OptionSpec timezone;

  /**
   * Adds the options to a command.
   *
   * @param user the help text of {@code --user}
   * @param since the help text of {@code --since}
   * @param timezone the beginning of the help text of {@code --timezone}
   */
  public JobOptions(Subcommand command, String user, String since, String timezone) {
    this.user = command.option("--user", "USER", user);
    this.since = command.option("--since", "TIME", since);
    this.timezone =
        command.option("--timezone", "ZONE", timezone + " (Europe/Berlin); else this host's.");
  }

  /** Returns the value of {@code --user}. */
  public Optional<String> user() {
    return typed(user);
  }

  /** Returns the value of {@code --since}; a duration counts back from {@code now}. */
  public Optional<Instant> since(Instant now) {
    Optional<Instant> time = time(since, now);
    time.ifPresent(begin -> requirePast(since, begin, now));
    return time;
  }

  /**
   * Checks that a period does not begin in the future.
   *
   * @param option the option that gives its begin
   * @throws NexaException if it does
   */
  public static void requirePast(OptionSpec option, Instant begin, Instant now) {
    if (begin.isAfter(now)) {
      throw wrong(option, future(option, now), option.longestName() + " 7d");
    }
  }

  /** Returns the note that a period ends now, because the option gives a time in the future. */
  public static String endsNow(OptionSpec option, Instant now) {
    return option.longestName() + ": " + future(option, now) + ", so the period ends now";
  }

  private static String future(OptionSpec option, Instant now) {
    return typed(option).orElse("")
        + " is in the future; now it is "
        + now.truncatedTo(ChronoUnit.SECONDS);
  }

  /** Returns the error for a period that ends before it begins. */
  public static NexaException emptyPeriod(Instant begin, Instant end) {
    return new NexaException(
        ErrorCode.OPTION_INVALID,
        "--since " + begin + " is not before --until " + end + ": the period is empty",
        Advice.step("the earlier time belongs to --since: --since 30d --until 1d"));
  }

  /** Returns the time that another option gives. */
  public Optional<Instant> time(OptionSpec option, Instant now) {
    Optional<String> text = typed(option);
    try {
      return text.map(time -> Moment.parse(time, zone(), now).from());
    } catch (IllegalArgumentException notATime) {
      throw wrong(option, notATime.getMessage(), option.longestName() + " 7d");
    }
  }

  /** Returns the zone of times without a zone. */
  public ZoneId zone() {
    Optional<String> name = typed(timezone);
    try {
      return name.map(ZoneId::of).orElseGet(ZoneId::systemDefault);
    } catch (DateTimeException noZone) {
      throw wrong(
          timezone,
          "expected a zone such as Europe/Berlin or UTC, got '"
              + name.orElse("")
              + "'"
              + Nearest.hint(name.orElse(""), ZoneId.getAvailableZoneIds()),
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

  private static Optional<String> typed(OptionSpec option) {
    @Nullable String text = option.getValue();
    return Optional.ofNullable(text);
  }

  private static NexaException wrong(OptionSpec option, @Nullable String message, String advice) {
    return new NexaException(
        ErrorCode.OPTION_INVALID, option.longestName() + ": " + message, Advice.step(advice));
  }
}
