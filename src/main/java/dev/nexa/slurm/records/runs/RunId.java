package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A run's id, {@code <stage>_<yyyyMMdd_HHmmss>} in UTC. A second run of a stage in one second gets
 * the suffix {@code _2}. The form is fixed by the project's specification (the seeds).
 *
 * <p>No other form is accepted, because an id becomes part of a path.
 *
 * @param value the id as text
 */
public record RunId(String value) implements Comparable<RunId> {
  private static final Pattern FORM =
      Pattern.compile("[a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss").withZone(ZoneOffset.UTC);

  /**
   * Checks the form.
   *
   * @throws NexaException if the text is no run id
   */
  public RunId {
    if (!FORM.matcher(value).matches()) {
      throw ErrorCode.RUN_UNKNOWN.error(
          "'" + value + "' is no run id; one looks like train_20251101_143200",
          Advice.command("shows them", "nexa-slurm", "runs", "list"));
    }
  }

  /** Returns the n-th id of a stage in one second, counting from 1. */
  static RunId of(String stage, Instant at, int n) {
    return new RunId(stage + "_" + TIME.format(at) + (n == 1 ? "" : "_" + n));
  }

  /** Returns the id; empty if the text has another form. */
  public static Optional<RunId> parse(String text) {
    return FORM.matcher(text).matches() ? Optional.of(new RunId(text)) : Optional.empty();
  }

  /** Returns the run's id from a submission's key; empty if the text is no key. */
  public static Optional<RunId> ofKey(String key) {
    int dot = key.indexOf('.');
    return dot < 0 ? Optional.empty() : parse(key.substring(0, dot));
  }

  @Override
  public int compareTo(RunId other) {
    return value.compareTo(other.value);
  }

  // Java generates a record's own equals and hashCode at run time, which takes 20 ms.
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof RunId id && value.equals(id.value);
  }

  @Override
  public int hashCode() {
    return value.hashCode();
  }

  @Override
  public String toString() {
    return value;
  }
}
