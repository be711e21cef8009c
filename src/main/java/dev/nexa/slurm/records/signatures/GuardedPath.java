package dev.nexa.slurm.records.signatures;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Set;

/**
 * Checks that only trusted users can change the file that a path names, as sshd checks
 * authorized_keys.
 *
 * <p>The file and each folder above it must belong to a trusted user and not be writable by group
 * or others, except sticky folders such as /tmp. Symbolic links are followed one at a time, as the
 * kernel does; each link and the folders on the way to it are checked too.
 */
public final class GuardedPath {
  private static final int OTHERS_WRITE = 022;
  private static final int STICKY = 01000;

  /** Linux follows this many links (path_resolution(7)). */
  private static final int MAX_LINKS = 40;

  private GuardedPath() {}

  /**
   * Returns which part of the path another user can change, and the command against that; empty if
   * there is none, or if the file system has no user ids.
   *
   * @param trusted user ids
   */
  public static Optional<String> problem(Path path, Set<Integer> trusted) {
    try {
      return followed(path.toAbsolutePath(), trusted);
    } catch (UnsupportedOperationException | IllegalArgumentException noUserIds) {
      return Optional.empty();
    } catch (IOException failed) {
      return Optional.of("cannot look at " + path + ": " + DurableFiles.reason(failed));
    }
  }

  private static Optional<String> followed(Path path, Set<Integer> trusted) throws IOException {
    Path at = path.getRoot();
    Optional<String> problem = one(at, path, trusted);
    Deque<Path> rest = new ArrayDeque<>();
    path.forEach(rest::addLast);
    int links = 0;
    while (problem.isEmpty() && !rest.isEmpty()) {
      String name = rest.removeFirst().toString();
      if (name.equals("..")) {
        at = at.getParent() == null ? at : at.getParent();
      } else if (!name.equals(".") && !name.isEmpty()) {
        Path next = at.resolve(name);
        problem = one(next, path, trusted);
        if (!Files.isSymbolicLink(next)) {
          at = next;
        } else if (++links > MAX_LINKS) {
          return Optional.of(path + " leads through too many symbolic links");
        } else {
          Path target = Files.readSymbolicLink(next);
          at = target.isAbsolute() ? target.getRoot() : at;
          for (int i = target.getNameCount() - 1; i >= 0; i--) {
            rest.addFirst(target.getName(i));
          }
        }
      }
    }
    return problem;
  }

  /**
   * @param whole the path that the part belongs to
   */
  private static Optional<String> one(Path part, Path whole, Set<Integer> trusted)
      throws IOException {
    int uid = (Integer) Files.getAttribute(part, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    int mode = (Integer) Files.getAttribute(part, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    if (!trusted.contains(uid)) {
      String owner = Files.getOwner(part, LinkOption.NOFOLLOW_LINKS).getName();
      String chown = Files.isSymbolicLink(part) ? "chown -h root " : "chown root ";
      // A folder above the file may be a user's own, such as their home: it stays theirs.
      boolean above = Files.isDirectory(part, LinkOption.NOFOLLOW_LINKS) && !part.equals(whole);
      return Optional.of(
          part
              + " belongs to "
              + (owner.equals("" + uid) ? "uid " + uid : owner)
              + (above
                  ? ", who can replace what is in it; keep "
                      + whole.getFileName()
                      + " in a folder that only root can change, such as /etc/nexa-slurm"
                  : "; root types: " + chown + Advice.word(part.toString())));
    }
    if (Files.isSymbolicLink(part)) {
      // The mode of a link means nothing. Its folder decides who may replace it.
      return Optional.empty();
    }
    boolean sticky = Files.isDirectory(part) && (mode & STICKY) != 0;
    return (mode & OTHERS_WRITE) != 0 && !sticky
        ? Optional.of(
            "%s is writable by others than its owner; root types: chmod go-w %s"
                .formatted(part, Advice.word(part.toString())))
        : Optional.empty();
  }

  /** Returns the user id of the file's owner; empty if it cannot be read. */
  public static Optional<Integer> owner(Path file) {
    try {
      return Optional.of((Integer) Files.getAttribute(file, "unix:uid"));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
      return Optional.empty();
    }
  }
}
