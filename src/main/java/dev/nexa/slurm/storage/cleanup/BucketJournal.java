package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.sync.Clutter.Kept;
import dev.nexa.slurm.storage.sync.Clutter.Piece;
import dev.nexa.slurm.storage.sync.S3Place;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * {@code cleanup/s3_<cleanup id>.jsonl} in the workspace: what a cleanup of a bucket deleted, one
 * JSON object a line. A line is on disk before its object is deleted. Nothing reads it: what was
 * deleted in S3 does not come back.
 */
public final class BucketJournal {
  private static final String PREFIX = "s3_";

  private final Path file;
  private final DurableFiles files;

  private BucketJournal(Path file, DurableFiles files) {
    this.file = file;
    this.files = files;
  }

  /**
   * Begins a journal.
   *
   * @param age how old an object must be
   */
  public static BucketJournal begin(Workspace workspace, S3Place place, Instant now, Duration age) {
    String id = PREFIX + CleanupId.of(now);
    Path folder = CleanupJournal.folder(workspace);
    workspace.files().directories(folder);
    BucketJournal journal =
        new BucketJournal(folder.resolve(id + CleanupJournal.END), workspace.files());
    journal.append(
        new JsonObject()
            .with("type", "begun")
            .with("schema_version", 1)
            .with("at", now)
            .with("cleanup_id", id)
            .with("workspace", workspace.root().toString())
            .with("address", place.address())
            .with("age_seconds", age.toSeconds()));
    return journal;
  }

  /**
   * Returns the journal's file of a cleanup of a bucket; empty if the text names none.
   *
   * @param id {@code s3_cleanup_…}, which need not exist, or the name without {@code s3_}
   */
  public static Optional<Path> of(Workspace workspace, String id) {
    boolean whole = id.startsWith(PREFIX);
    String bare = whole ? id.substring(PREFIX.length()) : id;
    if (!CleanupId.isOne(bare)) {
      return Optional.empty();
    }
    Path file = CleanupJournal.folder(workspace).resolve(PREFIX + bare + CleanupJournal.END);
    return whole || Files.exists(file) ? Optional.of(file) : Optional.empty();
  }

  /** Returns the journal's file. */
  public Path file() {
    return file;
  }

  /** Announces that a piece is deleted. */
  public void deleting(Piece piece) {
    append(
        new JsonObject()
            .with("type", "deleting")
            .with("at", Instant.now())
            .with("key", piece.key())
            .withOptional("upload_id", piece.uploadId())
            .with("etag", piece.etag())
            .with("bytes", piece.bytes())
            .with("since", piece.since())
            .with("why", piece.why()));
  }

  /** Says that an announced piece was not deleted. */
  public void kept(Kept kept) {
    append(
        new JsonObject()
            .with("type", "kept")
            .with("at", Instant.now())
            .with("key", kept.key())
            .with("note", kept.reason()));
  }

  private void append(JsonObject line) {
    files.append(file, Json.compact(line) + "\n");
  }
}
