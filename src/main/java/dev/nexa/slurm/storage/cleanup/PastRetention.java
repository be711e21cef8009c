package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.StorageClaims;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A run whose durable files are older than the retention of its profile. These are the files that
 * {@code archive} takes.
 *
 * @param folders its folders in {@code checkpoints/} and {@code evals/}, as far as they exist
 * @param days the profile's {@code storage.retention_days} when the run was made
 * @param until when the retention ended
 * @param bytes the size of the files when the run ended; empty if it was not measured
 */
public record PastRetention(
    RunId run, List<Path> folders, int days, Instant until, Optional<Long> bytes) {
  /** The command that shows which of the files can go. */
  public static final String COMMAND = "nexa-slurm cleanup --tier durable --dry-run";

  /**
   * Returns the run if its retention is over and its files are still there.
   *
   * @param state the run's journal
   */
  public static Optional<PastRetention> of(RunFolder run, RunState state, Instant now) {
    if (!state.finished() || !Files.exists(run.plan()) || !Files.exists(run.manifest())) {
      return Optional.empty();
    }
    Storage storage = run.shownPlan().storage();
    Optional<Instant> ended = ManifestFile.read(run).ended();
    if (storage.retentionDays().isEmpty() || ended.isEmpty()) {
      return Optional.empty();
    }
    Instant until = ended.get().plus(Duration.ofDays(storage.retentionDays().get()));
    String name = StorageClaims.nameOn(storage.durable(), run);
    List<Path> folders =
        FindWholeRuns.PARENTS.stream()
            .map(parent -> Path.of(storage.durable(), parent, name))
            .filter(Files::isDirectory)
            .toList();
    return until.isBefore(now) && !folders.isEmpty()
        ? Optional.of(
            new PastRetention(
                run.id(), folders, storage.retentionDays().get(), until, state.durableBytes()))
        : Optional.empty();
  }

  /** Returns the line for people. */
  public String words() {
    return run
        + ": "
        + folders.stream().map(Path::toString).collect(Collectors.joining(" and "))
        + (bytes.isPresent() ? " (" + Memory.plain(bytes.get()) + " when the run ended)" : "")
        + (folders.size() == 1 ? " is past its retention of " : " are past their retention of ")
        + days
        + " days since "
        + until.toString().substring(0, "2025-11-01".length());
  }

  /** Returns the object for JSON. */
  public JsonObject toJson() {
    return new JsonObject()
        .with("run_id", run.value())
        .with("folders", folders.stream().map(Path::toString).toList())
        .with("retention_days", days)
        .with("until", until)
        .withOptional("durable_bytes", bytes)
        .with("command", COMMAND);
  }
}
