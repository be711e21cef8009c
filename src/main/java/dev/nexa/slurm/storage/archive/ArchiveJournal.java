package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.Journal;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * {@code archives/journal.jsonl} of the workspace: what is being written, and what was archived,
 * moved into the trash and restored, one JSON object a line. Only one process writes, under the
 * workspace's lock.
 */
public record ArchiveJournal(Workspace workspace) {
  private static final String STAGING = "staging";

  private Path file() {
    return ArchiveFile.folder(workspace).resolve("journal.jsonl");
  }

  /**
   * A bundle that is written under its hidden name.
   *
   * @param file the hidden file
   * @param place where the bundle goes: a folder or an address
   */
  record Staging(@Key("run_id") RunId run, Path file, String place) {}

  /** The bundle is about to be written under its hidden name. */
  void staging(Staging staging) {
    workspace.files().directories(ArchiveFile.folder(workspace));
    append(Codec.write(staging, line(STAGING)));
  }

  /** Returns all that {@link #staging} wrote, oldest first, each hidden file once. */
  Collection<Staging> stagings() {
    Map<Path, Staging> all = new LinkedHashMap<>();
    if (Files.exists(file())) {
      DurableFiles.read(file())
          .lines()
          .forEach(line -> staging(line).ifPresent(one -> all.put(one.file(), one)));
    }
    return all.values();
  }

  private static Optional<Staging> staging(String line) {
    try {
      return Optional.of(Json.parseObject(line))
          .filter(json -> json.text("type").equals(STAGING))
          .map(json -> Codec.read(json, Staging.class));
    } catch (RuntimeException torn) {
      // A crash has cut the line short.
      return Optional.empty();
    }
  }

  /** The bundle is in its place, and checked. */
  void stored(ArchiveFile archive) {
    append(line("stored", archive).with("sha256", archive.bundle().sha256()));
  }

  /** The run's durable files are in the trash of a cleanup. */
  void moved(ArchiveFile archive, String cleanup) {
    append(line("moved", archive).with("cleanup_id", cleanup));
  }

  /** The run's files are there again. */
  void restored(ArchiveFile archive, Path to) {
    append(line("restored", archive).with("to", to.toString()));
  }

  private static JsonObject line(String type, ArchiveFile archive) {
    return line(type).with("run_id", archive.run().value()).with("bundle", archive.where());
  }

  private static JsonObject line(String type) {
    return new JsonObject().with("type", type).with("at", Instant.now());
  }

  private void append(JsonObject line) {
    byte[] bytes = Journal.bytes(file());
    boolean torn = Journal.wholeLength(bytes) < bytes.length;
    workspace.files().append(file(), (torn ? "\n" : "") + Json.compact(line) + "\n");
  }

  /**
   * A bundle under its hidden name: an archive is writing it, or an archive that was killed left
   * it.
   *
   * @param file the hidden file
   * @param place where the bundle goes: a folder or an address
   * @param bytes the size of the file
   */
  public record UnfinishedBundle(RunId run, Path file, String place, long bytes) {
    /** Returns the unfinished bundles of a workspace that this host sees, oldest first. */
    public static List<UnfinishedBundle> all(Workspace workspace) {
      List<UnfinishedBundle> all = new ArrayList<>();
      for (Staging staging : new ArchiveJournal(workspace).stagings()) {
        try {
          all.add(
              new UnfinishedBundle(
                  staging.run(), staging.file(), staging.place(), Files.size(staging.file())));
        } catch (IOException gone) {
          // The bundle has got its name, or the disk is not mounted.
        }
      }
      return all;
    }
  }
}
