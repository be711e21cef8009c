package dev.nexa.slurm.storage.cleanup;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.attribute.PosixFileAttributes;
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
  static TreeSize of(OpenFolder parent, String name, PosixFileAttributes top) throws IOException {
    Walk walk = new Walk(OpenFolder.device(top));
    walk.visit(parent, name, 0);
    return new TreeSize(walk.bytes, walk.files, walk.newest, walk.problem);
  }

  private static final class Walk {
    private final String device;
    private long bytes;
    private long files;
    private Instant newest = Instant.EPOCH;
    private Optional<String> problem = Optional.empty();

    Walk(String device) {
      this.device = device;
    }

    void visit(OpenFolder parent, String name, int depth) throws IOException {
      Optional<PosixFileAttributes> attributes = parent.attributes(name);
      if (attributes.isEmpty() || problem.isPresent()) {
        return;
      }
      Instant modified = attributes.get().lastModifiedTime().toInstant();
      newest = modified.isAfter(newest) ? modified : newest;
      if (!OpenFolder.device(attributes.get()).equals(device)) {
        problem = Optional.of("another file system is mounted at " + parent.path().resolve(name));
      } else if (!attributes.get().isDirectory()) {
        files++;
        bytes += attributes.get().isRegularFile() ? attributes.get().size() : 0;
      } else if (depth == DEEPEST) {
        problem = Optional.of("it is deeper than " + DEEPEST + " folders");
      } else {
        into(parent, name, depth);
      }
    }

    private void into(OpenFolder parent, String name, int depth) throws IOException {
      try (OpenFolder folder = parent.open(name)) {
        folder.forEach(entry -> visit(folder, entry, depth + 1));
      } catch (AccessDeniedException denied) {
        problem = Optional.of(parent.path().resolve(name) + " cannot be read");
      } catch (java.nio.file.FileSystemException changed) {
        problem = Optional.of(parent.path().resolve(name) + " changed while it was read");
      }
    }
  }
}
