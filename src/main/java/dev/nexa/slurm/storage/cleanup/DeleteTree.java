package dev.nexa.slurm.storage.cleanup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Deletes a folder of our own with all that it holds. Follows no link. */
public final class DeleteTree {
  private DeleteTree() {}

  /** Deletes the folder itself, too. Does nothing if it is missing. */
  public static void whole(Path folder) throws IOException {
    Path parent = folder.getParent();
    if (parent == null || !Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (OpenFolder open = OpenFolder.root(parent)) {
      open.deleteTree(folder.getFileName(), () -> {});
    }
  }
}
