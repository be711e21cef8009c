package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.progress.Progress.Running;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.time.Instant;
import java.util.Optional;

/**
 * The size and the age of a file or a tree.
 *
 * @param bytes the lengths of all files
 * @param files the number of files and links
 * @param newest when the newest file, folder or link was modified
 * @param problem why it must not be moved; empty if nothing speaks against it
 */
record TreeSize(long bytes, long files, Instant newest, Optional<String> problem) {
  /** Each level keeps a folder open, and a process may have 1,024 open files. */
  private static final int DEEPEST = 300;

  /** Measures an entry of a folder. A tree that cannot be read whole has a problem. */
  static TreeSize of(OpenFolder parent, Path name, PosixFileAttributes top, Running measuring)
      throws IOException {
    Walk walk = new Walk(OpenFolder.device(top), top.owner(), measuring);
    walk.visit(parent, name, 0);
    return new TreeSize(walk.bytes, walk.files, walk.newest, walk.problem);
  }

  private static final class Walk {
    private final String device;
    private final UserPrincipal owner;
    private final Running measuring;
    private long bytes;
    private long files;
    private Instant newest = Instant.EPOCH;
    private Optional<String> problem = Optional.empty();

    Walk(String device, UserPrincipal owner, Running measuring) {
      this.device = device;
      this.owner = owner;
      this.measuring = measuring;
    }

    void visit(OpenFolder parent, Path name, int depth) throws IOException {
      if (problem.isPresent()) {
        return;
      }
      Path path = parent.path().resolve(name);
      Optional<PosixFileAttributes> found = parent.attributes(name);
      if (found.isEmpty()) {
        problem = Optional.of(path + " went away while it was measured");
        return;
      }
      PosixFileAttributes attributes = found.get();
      Instant modified = attributes.lastModifiedTime().toInstant();
      newest = modified.isAfter(newest) ? modified : newest;
      if (!OpenFolder.device(attributes).equals(device)) {
        problem = Optional.of("another file system is mounted at " + path);
      } else if (!attributes.owner().equals(owner)) {
        problem = Optional.of(path + " belongs to " + attributes.owner().getName());
      } else if (!attributes.isDirectory()) {
        files++;
        measuring.done(1, 0);
        bytes += attributes.isRegularFile() ? attributes.size() : 0;
      } else if (depth == DEEPEST) {
        problem = Optional.of("it is deeper than " + DEEPEST + " folders");
      } else {
        into(parent, name, depth);
      }
    }

    private void into(OpenFolder parent, Path name, int depth) {
      try (OpenFolder folder = parent.open(name)) {
        folder.forEach(entry -> visit(folder, entry, depth + 1));
      } catch (IOException failed) {
        // Such as a folder without the right to read it, or more open files than `ulimit -n`.
        problem =
            Optional.of(
                parent.path().resolve(name) + " cannot be read: " + DurableFiles.reason(failed));
      }
    }
  }
}
