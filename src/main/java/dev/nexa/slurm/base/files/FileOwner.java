package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/**
 * The owner and the file system of a file or folder.
 *
 * @param writableByAll whether everybody can write to it
 * @param shared whether members of its group make files in it: a folder, group-writable, sticky,
 *     with the set-group-id bit
 */
public record FileOwner(long uid, long device, boolean writableByAll, boolean shared) {
  private static final int OTHERS_WRITE = 2;
  private static final int GROUP_SHARES = 03020;
  private static final int STICKY = 01000;
  private static final int NOT_ONLY_OWNER_WRITES = 022;

  /** Reads the owner with stat(2), following links. */
  public static FileOwner of(Path path) throws IOException {
    return read(path);
  }

  /**
   * Returns whether a file or folder is this user's own. A command asks this before money, a job or
   * a program that it starts depends on something in a folder where others make files.
   *
   * <p>The owner is read without following links. In a sticky folder, only root and the folder's
   * owner can remove or replace this user's own file or folder, so the answer stays true.
   */
  public static boolean isMine(Path path) throws IOException {
    try {
      return read(path, LinkOption.NOFOLLOW_LINKS).isMe() && !isPlanted(path) && leadsToMine(path);
    } catch (UnsupportedOperationException | IllegalArgumentException noUserIds) {
      return true;
    }
  }

  private static boolean leadsToMine(Path path) throws IOException {
    try {
      return of(path).isMe();
    } catch (NoSuchFileException gone) {
      throw gone;
    } catch (AccessDeniedException closed) {
      return false;
    } catch (FileSystemException loop) {
      // The link leads to itself, so to no other user's file. The reader reports this file.
      return true;
    }
  }

  /**
   * Returns whether a path is a link that another user can have put there. Such a link is in a
   * sticky folder where others make files, and belongs neither to this user, nor to root, nor to
   * the folder's owner. A link with two names counts too, because any user can have added the
   * second name.
   */
  public static boolean isPlanted(Path path) throws IOException {
    if (!Files.isSymbolicLink(path)) {
      return false;
    }
    try {
      Path folder = path.toAbsolutePath().getParent();
      long mode = folder == null ? 0 : number(Files.readAttributes(folder, "unix:mode"), "mode");
      if (folder == null || (mode & STICKY) == 0 || (mode & NOT_ONLY_OWNER_WRITES) == 0) {
        return false;
      }
      FileOwner link = read(path, LinkOption.NOFOLLOW_LINKS);
      Object names = Files.getAttribute(path, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
      return !names.equals(1) || !(link.isMe() || link.uid == 0 || link.uid == of(folder).uid);
    } catch (UnsupportedOperationException | IllegalArgumentException noUserIds) {
      return false;
    }
  }

  private static FileOwner read(Path path, LinkOption... links) throws IOException {
    Map<String, Object> stat = Files.readAttributes(path, "unix:uid,dev,mode", links);
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
