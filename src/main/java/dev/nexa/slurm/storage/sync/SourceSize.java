package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The files of a folder that a push can send: all that its filters take. A push into an address
 * that has some of them sends less.
 */
public record SourceSize(long files, long bytes) {
  /**
   * Counts the files. Reads no byte of them.
   *
   * @param from the folder, or a single file, which no filter leaves out
   * @param most the most files that are counted
   * @throws IOException if something cannot be read, or if there are more files; the message is a
   *     reason, without the path
   */
  public static SourceSize of(Path from, Filters filters, long most) throws IOException {
    if (Files.isRegularFile(from)) {
      return new SourceSize(1, Files.size(from));
    }
    if (!Files.exists(from)) {
      throw new IOException("it does not exist on this host");
    }
    long files = 0;
    long bytes = 0;
    List<Skipped> unread = new ArrayList<>();
    try (LocalTree.Walk walk =
        new LocalTree(from)
            .walk(
                filters,
                skipped -> {
                  if (!skipped.complete()) {
                    unread.add(skipped);
                  }
                })) {
      while (walk.hasNext() && unread.isEmpty()) {
        files++;
        bytes += walk.next().bytes();
        if (files > most) {
          throw new IOException("it has more than " + most + " files, which are not counted");
        }
      }
    } catch (java.nio.file.FileSystemException failed) {
      throw new IOException("it cannot be read: " + DurableFiles.reason(failed), failed);
    }
    if (!unread.isEmpty()) {
      throw new IOException(unread.get(0).path() + " " + unread.get(0).reason());
    }
    return new SourceSize(files, bytes);
  }
}
