package dev.nexa.slurm.cli;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.units.Moment;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/**
 * What commands that ask accounting have in common: whose jobs, and since when. Times without a
 * zone are this host's, as sacct reads its own; the sums over finished runs keep to UTC, as their
 * months do.
 */
final class JobOptions {
  private final OptionSpec user;
  private final OptionSpec since;
  private final OptionSpec timezone;

  JobOptions(Subcommand command, String user, String since, String timezone) {
    this.user = command.option("--user", "USER", user);
    this.since = command.option("--since", "TIME", since);
    this.timezone =
        command.option("--timezone", "ZONE", timezone + " (Europe/Berlin); else this host's.");
  }

  Optional<String> user() {
    return typed(user);
  }

  /** What was typed, to the left of {@code now}. */
  Optional<Instant> since(Instant now) {
    return time(since, now);
  }

  /** The time that another option names. */
  Optional<Instant> time(OptionSpec option, Instant now) {
    Optional<String> text = typed(option);
    try {
      return text.map(time -> Moment.parse(time, zone(), now).from());
    } catch (IllegalArgumentException notATime) {
      throw wrong(option, notATime.getMessage(), option.longestName() + " 7d");
    }
  }

  /** The zone of times that have none. */
  ZoneId zone() {
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

  /** As people read it: {@code 2025-11-01T00:00:00+01:00 (Europe/Berlin)}. */
  String told(Instant time) {
    ZonedDateTime there = time.atZone(zone());
    return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(there) + " (" + zone().getId() + ")";
  }

  private static Optional<String> typed(OptionSpec option) {
    @Nullable String text = option.getValue();
    return Optional.ofNullable(text);
  }

  private static NexaException wrong(OptionSpec option, @Nullable String message, String advice) {
    return new NexaException(ExitCode.USAGE, option.longestName() + ": " + message, advice);
  }
}
