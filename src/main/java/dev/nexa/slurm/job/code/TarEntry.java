package dev.nexa.slurm.job.code;

import java.time.Instant;

/**
 * An entry of a tar archive.
 *
 * @param path its path in the archive, unchanged; the path of a folder may end with a slash
 * @param bytes the size of a file; 0 for everything else
 * @param mode the permissions, such as 0644
 * @param modified when the file was modified
 * @param target where a link leads; empty for everything else
 */
public record TarEntry(
    String path, Kind kind, long bytes, int mode, Instant modified, String target) {
  /** The kinds of entries. */
  public enum Kind {
    FILE,
    FOLDER,
    /** A symbolic link. */
    LINK,
    /** A hard link, a device or another thing, which this program never writes. */
    OTHER
  }

  /**
   * 1980-01-01T00:00:00Z. GNU tar warns about times near 1970, and zip files cannot hold earlier
   * times.
   */
  private static final Instant NO_TIME = Instant.ofEpochSecond(315_532_800);

  /** Returns a regular file without a time of its own. */
  public static TarEntry file(String path, long bytes, boolean executable) {
    return new TarEntry(path, Kind.FILE, bytes, executable ? 0755 : 0644, NO_TIME, "");
  }

  /** Returns a symbolic link without a time of its own. */
  static TarEntry link(String path, String target) {
    return new TarEntry(path, Kind.LINK, 0, 0777, NO_TIME, target);
  }
}
