package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * {@code NAME.archive.json} beside a bundle, and {@code archives/RUN.json} in the workspace: what
 * an archive of a run holds, and where it is. No other class knows its keys.
 *
 * @param run the run
 * @param name the run's name on its durable tier, which the bundle has, too
 * @param workspace the folder of the run's workspace
 * @param place the folder or the address that holds the bundle
 * @param storageClass the storage class in S3; empty for a folder, or for the bucket's default
 * @param archived when the bundle was written
 * @param bundle the bundle's name, size and digest
 * @param sources for each first part of a path in the bundle, where it came from
 * @param files the entries of the bundle, in their order
 */
public record ArchiveFile(
    @Key("run_id") RunId run,
    String name,
    Path workspace,
    String place,
    Optional<String> storageClass,
    @Key("archived_at") Instant archived,
    Bundle bundle,
    Map<String, Path> sources,
    List<BundledFile> files) {
  private static final int NEWEST = 1;
  private static final String END = ".json";

  /** The first parts of the bundle's paths that come from the durable tier. */
  static final Set<String> DURABLE = Set.of("checkpoints", "evals");

  /** The bundle: its name, its size in bytes and its SHA-256. */
  public record Bundle(String file, @Key("size") long bytes, String sha256) {}

  /** Returns the name of a bundle. */
  static String bundle(String name) {
    return name + ".tar.zst";
  }

  /** Returns the name of the document beside a bundle. */
  static String document(String name) {
    return name + ".archive.json";
  }

  /** Returns where the bundle is, for people. */
  public String where() {
    return (place.endsWith("/") ? place : place + "/") + bundle(name);
  }

  /** Returns the folders on the durable tier that were archived. */
  public List<Path> durableFolders() {
    return sources.entrySet().stream()
        .filter(source -> DURABLE.contains(source.getKey()))
        .map(Map.Entry::getValue)
        .toList();
  }

  /** Returns the folder of checkpoints that was archived; empty if the run had none. */
  public Optional<Path> checkpoints() {
    return Optional.ofNullable(sources.get("checkpoints"));
  }

  /** Returns how many files it holds. */
  public long count() {
    return files.stream().filter(file -> file.kind().isEmpty()).count();
  }

  /** Returns the bytes of all files, before they were compressed. */
  public long bytes() {
    return files.stream().mapToLong(file -> file.size().orElse(0L)).sum();
  }

  /** Returns the document. */
  public JsonObject toJson() {
    return Codec.write(this, JsonObject.ofVersion(NEWEST));
  }

  /** Returns the document's text. */
  String text() {
    return Json.pretty(toJson());
  }

  /**
   * Reads a document.
   *
   * @param where the document, for messages
   * @throws NexaException if it cannot be read
   */
  static ArchiveFile parse(String text, String where) {
    try {
      return Codec.read(SchemaVersion.parse(text, where, NEWEST), ArchiveFile.class);
    } catch (RuntimeException broken) {
      if (broken instanceof NexaException known && known.code() == ErrorCode.RECORD_TOO_NEW) {
        throw known;
      }
      throw ErrorCode.ARCHIVE_DAMAGED.error(
          where + " is no document of an archive: " + broken.getMessage(),
          broken,
          Advice.step("a copy of it is in the workspace's archives/, and beside the bundle"));
    }
  }

  /** Returns the folder of a workspace's records of archives. */
  static Path folder(Workspace workspace) {
    return workspace.root().resolve("archives");
  }

  private static Path file(Workspace workspace, RunId run) {
    return folder(workspace).resolve(run.value() + END);
  }

  /** Writes the workspace's record, durably. Replaces an older one of the run. */
  void record(Workspace workspace) {
    workspace.files().directories(folder(workspace));
    workspace.files().replace(file(workspace, run), text());
  }

  /** Returns the workspace's record of a run's archive; empty if the run has none. */
  public static Optional<ArchiveFile> of(Workspace workspace, RunId run) {
    return Optional.of(file(workspace, run))
        .filter(Files::exists)
        .map(file -> parse(DurableFiles.read(file), file.toString()));
  }

  /**
   * Returns the record of a run's archive.
   *
   * @throws NexaException if the run has none
   */
  public static ArchiveFile require(Workspace workspace, RunId run) {
    return of(workspace, run)
        .orElseThrow(
            () ->
                ErrorCode.RUN_NOT_SUITABLE.error(
                    run + " has no archive",
                    Advice.command("shows the archives", "nexa-slurm archive list"),
                    Advice.command("makes one", "nexa-slurm archive", run.value())));
  }

  /** Returns all records of the workspace, ordered by run. */
  public static List<ArchiveFile> all(Workspace workspace) {
    return DurableFiles.list(folder(workspace), "[!.]*" + END).stream()
        .map(file -> parse(DurableFiles.read(file), file.toString()))
        .toList();
  }
}
