package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The {@code status} of a run in manifests, cost files and the ledger. */
public enum RunStatus {
  /** Not all tasks have ended, or it is not known that they have. */
  RUNNING,
  /**
   * A task has ended without success and waits in the queue to run again: Slurm or the job queued
   * it again, or the next job of a chain or a rerun will run it.
   */
  RETRY,
  COMPLETED,
  FAILED;

  /** Returns the word in the files, in lower case. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns whether the run is over. */
  public boolean ended() {
    return this == COMPLETED || this == FAILED;
  }

  /** Returns the status of a word; empty for an unknown word. */
  public static Optional<RunStatus> of(String text) {
    return Stream.of(values()).filter(status -> status.text().equals(text)).findFirst();
  }

  /**
   * Returns the status that a manifest, a cost file or a ledger line holds.
   *
   * @return {@link #RUNNING} for a missing or unknown word, because the run is not known to have
   *     ended
   */
  public static RunStatus of(JsonObject document) {
    return document.optionalText("status").flatMap(RunStatus::of).orElse(RUNNING);
  }
}
