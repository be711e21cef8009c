package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The user's newest pass of {@code reconcile} over all runs, stored in {@code
 * .nexa/heartbeat.json}. It shows whether cron still starts passes.
 *
 * @param lastPass when it began
 * @param lastSuccess when the last pass began in which the scheduler and accounting answered
 *     everything
 * @param behindSince the time up to which all jobs are known, if the scheduler or accounting does
 *     not answer; empty if all is known
 * @param error the error message of the failed answer
 * @param runsRead how many runs it read
 * @param runsChanged how many runs it changed
 * @param rowsRead how many accounting rows it read
 * @param took how long it took
 */
@Codec.WithNulls
public record Heartbeat(
    Instant lastPass,
    Optional<Instant> lastSuccess,
    Optional<Instant> behindSince,
    Optional<String> error,
    int runsRead,
    int runsChanged,
    int rowsRead,
    @Key("took_seconds") Duration took) {
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

  static Path file(Workspace workspace) {
    return workspace.own(workspace.state(), "heartbeat", ".json");
  }

  /** Returns the newest pass; empty if there was none, or if the file cannot be read. */
  public static Optional<Heartbeat> read(Workspace workspace) {
    if (Files.notExists(file(workspace))) {
      return Optional.empty();
    }
    try {
      JsonObject json = Json.parseObject(DurableFiles.read(file(workspace)));
      return Optional.of(Codec.read(json, Heartbeat.class));
    } catch (IllegalArgumentException | UncheckedIOException broken) {
      return Optional.empty();
    }
  }

  /** Replaces the file. Does nothing if the workspace has no runs, or may not be written. */
  public void write(Workspace workspace) {
    if (workspace.stateForWriting().isPresent()) {
      workspace.files().replace(file(workspace), Json.pretty(toJson()));
    }
  }

  /** Returns the content of the file. */
  public JsonObject toJson() {
    return Codec.write(this, JsonObject.ofVersion(1));
  }

  /**
   * Returns when an unattended pass should next query the services. The pause is half the time that
   * they have failed, at most 10 minutes, so that a failing service gets fewer and fewer queries.
   * Empty if a pass may query now; a last pass in the future came from a wrong clock and is
   * ignored.
   */
  public Optional<Instant> askAgain(Instant now) {
    if (behindSince.isEmpty() || lastPass.isAfter(now)) {
      return Optional.empty();
    }
    Duration pause = Duration.between(behindSince.get(), lastPass).dividedBy(2);
    Instant again = lastPass.plus(pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause);
    return again.isAfter(now) ? Optional.of(again) : Optional.empty();
  }
}
