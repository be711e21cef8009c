package dev.nexa.slurm.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Makes what was written survive a crash. The one seam for fsync: Jimfs can't open a directory. */
public interface Sync {
  /** fsync(2) on the real disk. */
  Sync DISK =
      path -> {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
          channel.force(true);
        }
      };

  /** Forces a file's bytes, or a directory's names, to the disk. */
  void force(Path path) throws IOException;

  /** Forces what was written to the file that is open. */
  default void force(FileChannel open, Path file) throws IOException {
    open.force(true);
  }
}
