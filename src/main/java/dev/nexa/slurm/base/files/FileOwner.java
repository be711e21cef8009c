package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The owner and the file system of a file or folder.
 *
 * @param writableByAll whether everybody can write to it
 * @param shared whether it is a folder in which the members of its group make files of their own:
 *     group-writable, sticky, with the set-group-id bit
 */
public record FileOwner(long uid, long device, boolean writableByAll, boolean shared) {
  private static final int OTHERS_WRITE = 2;
  private static final int GROUP_SHARES = 03020;

  /** Reads the owner with stat(2), following links. */
  public static FileOwner of(Path path) throws IOException {
    Map<String, Object> stat = Files.readAttributes(path, "unix:uid,dev,mode");
    long mode = number(stat, "mode");
    return new FileOwner(
        number(stat, "uid"),
        number(stat, "dev"),
        (mode & OTHERS_WRITE) != 0,
        (mode & GROUP_SHARES) == GROUP_SHARES);
  }

  private static long number(Map<String, Object> stat, String name) {
    return stat.get(name) instanceof Number value ? value.longValue() : -1;
  }

  /** Returns whether the owner is the user of this process. */
  public boolean isMe() throws IOException {
    return uid == of(Path.of("/proc/self")).uid;
  }
}
