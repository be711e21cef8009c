package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Whether only trusted users can change what a path names, as sshd asks of authorized_keys: each
 * folder above it, and itself, is theirs and not writable by group or others. A sticky folder such
 * as /tmp will do above what is theirs.
 */
public final class GuardedPath {
  private static final int OTHERS_WRITE = 022;
  private static final int STICKY = 01000;

  private GuardedPath() {}

  /**
   * Who else can change it, in words; empty if nobody.
   *
   * @param trusted user ids
   */
  public static Optional<String> problem(Path path, Set<Integer> trusted) {
    try {
      for (Path form : List.of(path.toAbsolutePath().normalize(), path.toRealPath())) {
        for (Path part = form; part != null; part = part.getParent()) {
          Optional<String> problem = one(part, trusted);
          if (problem.isPresent()) {
            return problem;
          }
        }
      }
      return Optional.empty();
    } catch (UnsupportedOperationException | IllegalArgumentException noUserIds) {
      return Optional.empty();
    } catch (IOException failed) {
      return Optional.of("cannot look at " + path + ": " + DurableFiles.reason(failed));
    }
  }

  private static Optional<String> one(Path part, Set<Integer> trusted) throws IOException {
    int uid = (Integer) Files.getAttribute(part, "unix:uid");
    int mode = (Integer) Files.getAttribute(part, "unix:mode");
    if (!trusted.contains(uid)) {
      return Optional.of(part + " belongs to uid " + uid);
    }
    boolean sticky = Files.isDirectory(part) && (mode & STICKY) != 0;
    return (mode & OTHERS_WRITE) != 0 && !sticky
        ? Optional.of(part + " is writable by others than its owner")
        : Optional.empty();
  }

  /** Whose the file is; empty where there are no user ids. */
  public static Optional<Integer> owner(Path file) {
    try {
      return Optional.of((Integer) Files.getAttribute(file, "unix:uid"));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
      return Optional.empty();
    }
  }
}
