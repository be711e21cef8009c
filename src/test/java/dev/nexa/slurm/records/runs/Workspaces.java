package dev.nexa.slurm.records.runs;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Workspaces in memory. */
public final class Workspaces {
  private Workspaces() {}

  /** An empty one at {@code /home/ada/science}, on a disk that needs no fsync. */
  public static Workspace inMemory() {
    Path root =
        Jimfs.newFileSystem(
                Configuration.unix().toBuilder().setAttributeViews("basic", "posix").build())
            .getPath("/home/ada/science");
    try {
      Files.createDirectories(root);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return new Workspace(root, new DurableFiles(path -> {}));
  }
}
