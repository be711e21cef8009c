package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what {@code sbatch --test-only} prints on stderr: {@code sbatch: Job 17 to start at
 * 1795307543 using 1 processors on nodes n1 in partition gpu} (newer versions print "a using"), or
 * {@code allocation failure: Requested node configuration is not available}. The number after "Job"
 * belongs to no job. Pure.
 */
final class TestOnlyText {
  private static final Pattern START =
      Pattern.compile("to start at (\\S+)(?: (?:a )?using (\\d{1,9}) processors)?");
  private static final Pattern FAILURE = Pattern.compile("(?m)^allocation failure: (.+)$");

  /** The errors of a client that got no answer (slurm_errno.c of 22.05 to 25.05). */
  private static final Pattern UNREACHABLE =
      Pattern.compile(
          "Unable to contact|Socket timed out|Zero Bytes were transmitted|Connection refused");

  private static final Pattern ERROR = Pattern.compile("(?m)^sbatch: (?:error: )?(.+)$");

  private TestOnlyText() {}

  static ExpectedStart read(String err) {
    Matcher start = START.matcher(err);
    if (start.find()) {
      return time(start.group(1), start.group(2) == null ? 0 : Integer.parseInt(start.group(2)));
    }
    Matcher failure = FAILURE.matcher(err);
    Matcher error = ERROR.matcher(err);
    String why =
        failure.find() ? failure.group(1).strip() : error.find() ? error.group(1).strip() : "";
    return why.isEmpty() || UNREACHABLE.matcher(why).find()
        ? ExpectedStart.unknown(why)
        : ExpectedStart.never(why);
  }

  /** Reads epoch seconds, which SLURM_TIME_FORMAT requests, or a UTC time if sbatch ignores it. */
  private static ExpectedStart time(String text, int cpus) {
    try {
      return ExpectedStart.at(
          text.chars().allMatch(Character::isDigit)
              ? Instant.ofEpochSecond(Long.parseLong(text))
              : LocalDateTime.parse(text).toInstant(ZoneOffset.UTC),
          cpus);
    } catch (DateTimeException | NumberFormatException noTime) {
      return ExpectedStart.never("it would start at '" + text + "'");
    }
  }
}
