package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * {@code archives/journal.jsonl} of the workspace: what was archived, moved into the trash and
 * restored, one JSON object a line. Only one process writes, under the workspace's lock.
 */
final class ArchiveJournal {
  private final Path file;
  private final DurableFiles files;

  ArchiveJournal(Workspace workspace) {
    this.files = workspace.files();
    this.file = ArchiveFile.folder(workspace).resolve("journal.jsonl");
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
    return new JsonObject()
        .with("type", type)
        .with("at", Instant.now())
        .with("run_id", archive.run().value())
        .with("bundle", archive.where());
  }

  private void append(JsonObject line) {
    files.append(file, (isTorn() ? "\n" : "") + Json.compact(line) + "\n");
  }

  /** Returns whether a crash has cut the last line short. */
  private boolean isTorn() {
    if (Files.notExists(file)) {
      return false;
    }
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      if (channel.size() == 0) {
        return false;
      }
      ByteBuffer last = ByteBuffer.allocate(1);
      channel.position(channel.size() - 1).read(last);
      return last.get(0) != '\n';
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }
}
