package dev.nexa.slurm.storage.tiers;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Makes folders that are as writable as the tier in which they lie. */
public final class FolderOfTier {
  private static final int MODE = 07777;

  private FolderOfTier() {}

  /**
   * Makes a folder with the mode of the tier.
   *
   * <p>The mode is set without following a link, because somebody else could put one in the new
   * folder's place.
   *
   * @throws FileAlreadyExistsException if something has the name
   */
  public static void make(Path tier, Path folder) throws IOException {
    Files.createDirectory(folder);
    int mode = (Integer) Files.getAttribute(tier, "unix:mode") & MODE;
    Files.setAttribute(folder, "unix:mode", mode, LinkOption.NOFOLLOW_LINKS);
  }
}
