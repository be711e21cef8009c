package dev.nexa.slurm.storage.bundle;

import java.time.Instant;

/**
 * An entry of a tar archive.
 *
 * @param path its path in the archive, as it is written there; a folder may end with a slash
 * @param bytes the size of a file; 0 for everything else
 * @param mode the permissions, such as 0644
 * @param modified when the file was modified
 * @param target where a link leads; empty for everything else
 */
public record TarEntry(
    String path, Kind kind, long bytes, int mode, Instant modified, String target) {
  /** What an entry is. */
  public enum Kind {
    FILE,
    FOLDER,
    /** A symbolic link. */
    LINK,
    /** A hard link, a device or another thing, which this program never writes. */
    OTHER
  }
}
