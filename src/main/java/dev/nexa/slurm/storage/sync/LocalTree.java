package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import dev.nexa.slurm.base.files.LookAhead;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.storage.sync.SyncPlan.Skipped;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The regular files below a folder. Follows no link: each folder is opened relative to the folder
 * above it (openat(2) with O_NOFOLLOW). So another user cannot swap a folder for a link and lead us
 * elsewhere.
 */
final class LocalTree {
  private final Path root;

  /**
   * Makes the tree.
   *
   * @param root the folder; may itself be a link
   */
  LocalTree(Path root) throws IOException {
    this.root = root.toRealPath();
  }

  Path root() {
    return root;
  }

  /**
   * Starts a walk over all files that the filters take, in the order of {@link NamesOfFiles#ORDER}.
   * Holds the names of one folder and of the folders above it in memory.
   *
   * @param skipped gets names that are not UTF-8, unreadable folders, and, also if the filters do
   *     not take them, links and special files
   */
  Walk walk(Filters filters, Consumer<Skipped> skipped) throws IOException {
    return new Walk(filters, skipped);
  }

  /** Returns a file's path, size and time; empty if there is none, or if it is no regular file. */
  Optional<LocalFile> stat(String path) throws IOException {
    return look(path).map(Found::file);
  }

  /**
   * Checks that a file is as it was before it was read.
   *
   * @throws StoreException of kind CHANGED if it is not
   */
  void requireUnchanged(LocalFile file) throws IOException {
    if (!stat(file.path()).equals(Optional.of(file))) {
      throw StoreException.changed("the file changed while it was read");
    }
  }

  /**
   * A file and its permissions.
   *
   * @param mode its permissions, in octal digits
   */
  record Found(LocalFile file, String mode) {}

  /** Returns a file and its permissions; empty if there is none, or if it is no regular file. */
  Optional<Found> look(String path) throws IOException {
    try (OpenFolder folder = folder(path)) {
      return folder
          .attributes(name(path))
          .filter(PosixFileAttributes::isRegularFile)
          .map(facts -> new Found(LocalFile.of(path, facts), mode(facts)));
    } catch (NoSuchFileException | NotDirectoryException missing) {
      return Optional.empty();
    }
  }

  private static String mode(PosixFileAttributes facts) {
    return String.format(
        "%03o", FileModes.mode(PosixFilePermissions.toString(facts.permissions())));
  }

  /** Opens a file for reading. */
  SeekableByteChannel read(String path) throws IOException {
    try (OpenFolder folder = folder(path)) {
      return folder.read(name(path));
    }
  }

  /**
   * A file that got its name.
   *
   * @param folders must be forced to disk before the name counts as there
   */
  record Placed(LocalFile file, List<Path> folders) {}

  /**
   * Renames a finished file to its place, atomically, and makes the missing folders.
   *
   * @param replaced the file that it may replace; empty if there must be none
   * @throws StoreException of kind CHANGED if another file is there
   */
  Placed place(Path finished, String path, Optional<LocalFile> replaced) throws IOException {
    List<Path> changed = new ArrayList<>();
    Path name = name(path);
    try (OpenFolder from = OpenFolder.root(finished.resolveSibling(""));
        OpenFolder folder = made(path, changed)) {
      requireUnchanged(folder, path, replaced);
      from.move(finished.getFileName(), folder, name);
      changed.add(folder.path());
      PosixFileAttributes facts =
          folder.attributes(name).orElseThrow(() -> new NoSuchFileException(path));
      return new Placed(LocalFile.of(path, facts), changed);
    } catch (AtomicMoveNotSupportedException elsewhere) {
      throw new FileSystemException(path, null, "it is on another file system than " + root);
    }
  }

  /** Deletes a file, if it has not changed. */
  void delete(LocalFile file) throws IOException {
    try (OpenFolder folder = folder(file.path())) {
      requireUnchanged(folder, file.path(), Optional.of(file));
      folder.deleteFile(name(file.path()));
    }
  }

  private static void requireUnchanged(OpenFolder folder, String path, Optional<LocalFile> expected)
      throws IOException {
    Optional<PosixFileAttributes> there = folder.attributes(name(path));
    if (there.isPresent() && !there.get().isRegularFile()) {
      throw StoreException.changed("there is a folder, link or device of this name");
    }
    if (!there.map(facts -> LocalFile.of(path, facts)).equals(expected)) {
      throw StoreException.changed("the file here changed since the plan was made");
    }
  }

  private static Path name(String path) {
    return Path.of(path.substring(path.lastIndexOf('/') + 1));
  }

  private static Path above(String path) {
    return Path.of(path.substring(0, Math.max(0, path.lastIndexOf('/'))));
  }

  /** Opens the folder of a file. */
  private OpenFolder folder(String path) throws IOException {
    try (OpenFolder open = OpenFolder.root(root)) {
      return open.openAll(above(path));
    }
  }

  /**
   * Opens the folder of a file, and makes it.
   *
   * @param changed gets the folders that have a new folder
   */
  private OpenFolder made(String path, List<Path> changed) throws IOException {
    OpenFolder now = OpenFolder.root(root);
    if (path.indexOf('/') < 0) {
      return now;
    }
    for (Path name : above(path)) {
      try (OpenFolder before = now) {
        now = made(before, name, changed);
      }
    }
    return now;
  }

  private static OpenFolder made(OpenFolder above, Path name, List<Path> changed)
      throws IOException {
    try {
      return above.open(name);
    } catch (NoSuchFileException missing) {
      try {
        FileModes.createDirectory(above.path().resolve(name));
        changed.add(above.path());
      } catch (FileAlreadyExistsException another) {
        // Another thread made it.
      }
      return above.open(name);
    }
  }

  /** A name in a folder that the walk has opened; without a file, it is a folder. */
  private record Entry(String name, Optional<LocalFile> file) {
    String sortKey() {
      return file.isPresent() ? name : name + "/";
    }
  }

  private record Level(OpenFolder folder, String prefix, Iterator<Entry> entries) {}

  /** A walk. Not for several threads. */
  final class Walk extends LookAhead<LocalFile> implements Closeable {
    private final Filters filters;
    private final Consumer<Skipped> skipped;
    private final Deque<Level> levels = new ArrayDeque<>();

    private Walk(Filters filters, Consumer<Skipped> skipped) throws IOException {
      this.filters = filters;
      this.skipped = skipped;
      levels.push(level(OpenFolder.root(root), ""));
    }

    @Override
    protected Optional<LocalFile> advance() {
      while (!levels.isEmpty()) {
        Level level = levels.element();
        if (!level.entries.hasNext()) {
          levels.pop();
          closeQuietly(level.folder);
          continue;
        }
        Entry entry = level.entries.next();
        if (entry.file.isPresent()) {
          return entry.file;
        }
        String path = level.prefix + entry.name;
        try {
          levels.push(level(level.folder.open(entry.name), path + "/"));
        } catch (IOException failed) {
          skipped.accept(new Skipped(path + "/", unreadable(failed), false));
        }
      }
      return Optional.empty();
    }

    private Level level(OpenFolder folder, String prefix) throws IOException {
      List<Entry> entries = new ArrayList<>();
      try {
        folder.forEach(found -> add(entries, folder, prefix, found));
      } catch (IOException failed) {
        folder.close();
        throw failed;
      }
      entries.sort((one, other) -> NamesOfFiles.ORDER.compare(one.sortKey(), other.sortKey()));
      return new Level(folder, prefix, entries.iterator());
    }

    private void add(List<Entry> entries, OpenFolder folder, String prefix, Path found)
        throws IOException {
      String name = found.toString();
      String path = prefix + name;
      Optional<PosixFileAttributes> known;
      try {
        known = folder.attributes(found);
      } catch (IOException failed) {
        if (!Filters.isOurs(path)) {
          skipped.accept(new Skipped(path, unreadable(failed), false));
        }
        return;
      }
      if (known.isEmpty()) {
        return;
      }
      PosixFileAttributes facts = known.get();
      if (facts.isDirectory()) {
        if (Filters.isOurs(path) || !filters.mayTakeBelow(path)) {
          return;
        }
      } else if (Filters.isOurs(path)) {
        skipped.accept(new Skipped(path, Filters.OURS, true));
        return;
      } else if (facts.isRegularFile() && !filters.takes(path)) {
        return;
      }
      if (!isUtf8(name, found)) {
        skipped.accept(new Skipped(path, "its name is not UTF-8", false));
      } else if (facts.isDirectory()) {
        entries.add(new Entry(name, Optional.empty()));
      } else if (facts.isRegularFile()) {
        entries.add(new Entry(name, Optional.of(LocalFile.of(path, facts))));
      } else {
        String kind = facts.isSymbolicLink() ? "a symbolic link" : "a pipe, socket or device";
        skipped.accept(new Skipped(path, kind, true));
      }
    }

    /** Bytes that are not UTF-8 become U+FFFD, which a name can also hold itself. */
    private boolean isUtf8(String name, Path found) {
      try {
        return name.indexOf('\uFFFD') < 0 || Path.of(name).equals(found);
      } catch (InvalidPathException locale) {
        return false;
      }
    }

    private String unreadable(IOException failed) {
      return "cannot be read: " + DurableFiles.reason(failed);
    }

    @Override
    public void close() {
      levels.forEach(level -> closeQuietly(level.folder));
      levels.clear();
    }

    private void closeQuietly(Closeable stream) {
      try {
        stream.close();
      } catch (IOException ignored) {
        // Nothing was written.
      }
    }
  }
}
