package dev.nexa.slurm.journal;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * {@code <stage>_<yyyyMMdd_HHmmss>} in UTC, as in the seeds; the second run of one second ends in
 * {@code _2}. Exactly this shape is accepted, wherever an id comes from: it becomes a path.
 */
public record RunId(String value) implements Comparable<RunId> {
  private static final Pattern FORM =
      Pattern.compile("[a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss").withZone(ZoneOffset.UTC);

  public RunId {
    if (!FORM.matcher(value).matches()) {
      throw new NexaException(
          ExitCode.USAGE,
          "'" + value + "' is no run id; one looks like train_20251101_143200",
          "`nexa-slurm runs list` shows them");
    }
  }

  /** The n-th id of a stage in one second, counting from 1. */
  static RunId of(String stage, Instant at, int n) {
    return new RunId(stage + "_" + TIME.format(at) + (n == 1 ? "" : "_" + n));
  }

  /** The id, where the text has the shape of one. */
  public static Optional<RunId> parse(String text) {
    return FORM.matcher(text).matches() ? Optional.of(new RunId(text)) : Optional.empty();
  }

  /** The id of the run that a submission's key belongs to. */
  public static Optional<RunId> ofKey(String key) {
    int dot = key.indexOf('.');
    return dot < 0 ? Optional.empty() : parse(key.substring(0, dot));
  }

  @Override
  public int compareTo(RunId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
