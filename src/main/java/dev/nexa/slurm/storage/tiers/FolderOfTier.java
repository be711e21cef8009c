package dev.nexa.slurm.storage.tiers;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;

/** Makes folders that are as writable as the tier in which they lie. */
public final class FolderOfTier {
  private static final int STICKY = 01000;
  private static final int MODE = 07777;

  private FolderOfTier() {}

  /**
   * Makes a folder with the mode of the tier.
   *
   * <p>Only in a sticky folder nobody else can put a link in the new folder's place. Elsewhere, the
   * rights are set without following a link, and the group's bit comes from the tier by itself.
   *
   * @throws FileAlreadyExistsException if something has the name
   */
  public static void make(Path tier, Path folder) throws IOException {
    Files.createDirectory(folder);
    int mode = (Integer) Files.getAttribute(tier, "unix:mode") & MODE;
    if ((mode & STICKY) != 0) {
      Files.setAttribute(folder, "unix:mode", mode);
    } else {
      Files.getFileAttributeView(folder, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .setPermissions(Files.getPosixFilePermissions(tier));
    }
  }
}
