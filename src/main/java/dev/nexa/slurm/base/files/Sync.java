package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Forces written data to disk, so that it survives a crash. Tests replace it, because the in-memory
 * file system Jimfs cannot open a directory.
 */
public interface Sync {
  /** Calls fsync(2) on the real disk. */
  Sync DISK =
      path -> {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
          channel.force(true);
        }
      };

  /** Forces a file's bytes, or a directory's names, to disk. */
  void force(Path path) throws IOException;

  /**
   * Forces the bytes written to an open file to disk.
   *
   * @param file the path of {@code open}
   */
  default void force(FileChannel open, Path file) throws IOException {
    open.force(true);
  }

  /** A step of a change that must survive a crash is done. Tests end the process there. */
  default void passed(Enum<?> step) {}
}
