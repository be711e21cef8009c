package dev.nexa.slurm.journal;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * {@code .nexa/heartbeat.json}: the newest pass of reconcile over all runs, for whoever wants to
 * know whether cron still works.
 *
 * @param lastPass when it began
 * @param lastSuccess when the last one began that got all its answers
 * @param behindSince what happened to jobs after this is not known, because a scheduler or
 *     accounting does not answer; empty where all is known
 * @param error what it said
 * @param took how long the pass took
 */
public record Heartbeat(
    Instant lastPass,
    Optional<Instant> lastSuccess,
    Optional<Instant> behindSince,
    Optional<String> error,
    int runsRead,
    int runsChanged,
    int rowsRead,
    Duration took) {
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

  static Path file(Workspace workspace) {
    return workspace.state().resolve("heartbeat.json");
  }

  /** The newest pass; empty where none has been, or where the file can't be read. */
  public static Optional<Heartbeat> read(Workspace workspace) {
    if (Files.notExists(file(workspace))) {
      return Optional.empty();
    }
    try {
      JsonObject json = Json.parseObject(DurableFiles.read(file(workspace)));
      return Optional.of(
          new Heartbeat(
              json.instant("last_pass"),
              json.optionalText("last_success").map(Instant::parse),
              json.optionalText("behind_since").map(Instant::parse),
              json.optionalText("error"),
              (int) json.number("runs_read"),
              (int) json.number("runs_changed"),
              (int) json.number("rows_read"),
              Duration.ofMillis(json.decimal("took_seconds").movePointRight(3).longValue())));
    } catch (IllegalArgumentException | UncheckedIOException broken) {
      return Optional.empty();
    }
  }

  /** Left as it is where we may not write, or where no run was ever made. */
  public void write(Workspace workspace) {
    if (workspace.stateForWriting().isPresent()) {
      workspace.files().replace(file(workspace), Json.pretty(toJson()));
      // Of passes that died here; nobody takes an hour to write a line.
      workspace.files().sweep(workspace.state(), ".heartbeat", lastPass.minus(Duration.ofHours(1)));
    }
  }

  public JsonObject toJson() {
    return new JsonObject()
        .with("schema_version", 1)
        .with("last_pass", lastPass)
        .with("last_success", lastSuccess.orElse(null))
        .with("behind_since", behindSince.orElse(null))
        .with("error", error.orElse(null))
        .with("runs_read", runsRead)
        .with("runs_changed", runsChanged)
        .with("rows_read", rowsRead)
        .with("took_seconds", BigDecimal.valueOf(took.toMillis(), 3));
  }

  /**
   * When a pass that nobody waits for should ask again: after half the time that we have been
   * behind, so that a service in trouble is asked less and less. Empty where nothing keeps it from
   * asking: a pass in the future was made by a wrong clock.
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
