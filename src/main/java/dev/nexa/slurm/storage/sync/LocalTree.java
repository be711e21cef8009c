package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The regular files below a folder. Follows no link: each folder is opened relative to the folder
 * above it (openat(2) with O_NOFOLLOW), so nobody can lead us elsewhere by swapping a folder for a
 * link.
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
   * Starts a walk over all files that the filters take, in the order of {@link KeyOrder}. Holds the
   * names of one folder and of the folders above it in memory.
   *
   * @param skipped gets names that are not UTF-8, unreadable folders, and, also if the filters do
   *     not take them, links and special files
   */
  Walk walk(Filters filters, Consumer<Skipped> skipped) throws IOException {
    return new Walk(filters, skipped);
  }

  /** Returns what is known of a file; empty if there is none, or if it is no regular file. */
  Optional<LocalFile> stat(String path) throws IOException {
    return look(path).map(Found::file);
  }

  /**
   * A file, and who may do what with it.
   *
   * @param mode its permissions, in octal digits
   */
  record Found(LocalFile file, String mode) {}

  /** Returns what is known of a file; empty if there is none, or if it is no regular file. */
  Optional<Found> look(String path) throws IOException {
    try (Folder folder = folder(path, false)) {
      PosixFileAttributes facts = facts(folder.stream, name(path));
      int mode = FileModes.mode(PosixFilePermissions.toString(facts.permissions()));
      return facts.isRegularFile()
          ? Optional.of(new Found(LocalFile.of(path, facts), String.format("%03o", mode)))
          : Optional.empty();
    } catch (NoSuchFileException | NotDirectoryException missing) {
      return Optional.empty();
    }
  }

  /** Opens a file for reading. */
  SeekableByteChannel read(String path) throws IOException {
    try (Folder folder = folder(path, false)) {
      return folder.stream.newByteChannel(
          name(path), Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
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
    try (SecureDirectoryStream<Path> from = open(finished.resolveSibling(""));
        Folder folder = folder(path, true)) {
      changed.addAll(folder.made);
      requireUnchanged(folder.stream, path, replaced);
      from.move(finished.getFileName(), folder.stream, name(path));
      Path parent = root.resolve(path).getParent();
      changed.add(parent == null ? root : parent);
      return new Placed(LocalFile.of(path, facts(folder.stream, name(path))), changed);
    } catch (AtomicMoveNotSupportedException elsewhere) {
      throw new FileSystemException(path, null, "it is on another file system than " + root);
    }
  }

  /** Deletes a file, if it is still this one. */
  void delete(LocalFile file) throws IOException {
    try (Folder folder = folder(file.path(), false)) {
      requireUnchanged(folder.stream, file.path(), Optional.of(file));
      folder.stream.deleteFile(name(file.path()));
    }
  }

  private static void requireUnchanged(
      SecureDirectoryStream<Path> folder, String path, Optional<LocalFile> expected)
      throws IOException {
    Optional<LocalFile> there;
    try {
      BasicFileAttributes facts = facts(folder, name(path));
      if (!facts.isRegularFile()) {
        throw new StoreException(
            StoreException.Kind.CHANGED, "there is a folder, link or device of this name");
      }
      there = Optional.of(LocalFile.of(path, facts));
    } catch (NoSuchFileException none) {
      there = Optional.empty();
    }
    if (!there.equals(expected)) {
      throw new StoreException(
          StoreException.Kind.CHANGED, "the file here changed since the plan was made");
    }
  }

  private static Path name(String path) {
    return Path.of(path.substring(path.lastIndexOf('/') + 1));
  }

  private static PosixFileAttributes facts(SecureDirectoryStream<Path> folder, Path name)
      throws IOException {
    return folder
        .getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .readAttributes();
  }

  @SuppressWarnings("StreamResourceLeak") // The caller closes it.
  private static SecureDirectoryStream<Path> open(Path folder) throws IOException {
    return secure(Files.newDirectoryStream(folder));
  }

  private static SecureDirectoryStream<Path> secure(DirectoryStream<Path> stream)
      throws IOException {
    if (stream instanceof SecureDirectoryStream<Path> secure) {
      return secure;
    }
    stream.close();
    throw new IOException("this system cannot open folders without following links");
  }

  /** The open folder of a file, and the folders that were made for it. */
  private record Folder(SecureDirectoryStream<Path> stream, List<Path> made) implements Closeable {
    @Override
    public void close() throws IOException {
      stream.close();
    }
  }

  private Folder folder(String path, boolean make) throws IOException {
    List<Path> made = new ArrayList<>();
    SecureDirectoryStream<Path> folder = open(root);
    Path at = root;
    try {
      int start = 0;
      for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', start)) {
        Path name = Path.of(path.substring(start, slash));
        at = at.resolve(name);
        SecureDirectoryStream<Path> next = child(folder, name, make ? at : null, made);
        folder.close();
        folder = next;
        start = slash + 1;
      }
      return new Folder(folder, made);
    } catch (IOException | RuntimeException failed) {
      folder.close();
      throw failed;
    }
  }

  private static SecureDirectoryStream<Path> child(
      SecureDirectoryStream<Path> folder, Path name, @Nullable Path make, List<Path> made)
      throws IOException {
    try {
      return folder.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException missing) {
      if (make == null) {
        throw missing;
      }
      try {
        FileModes.createDirectory(make);
        made.add(make.resolveSibling(""));
      } catch (FileAlreadyExistsException another) {
        // Another thread made it.
      }
      return folder.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS);
    }
  }

  /** A name in a folder that the walk has opened. */
  private record Entry(String name, boolean folder, LocalFile file) {
    String sortKey() {
      return folder ? name + "/" : name;
    }
  }

  private record Level(
      SecureDirectoryStream<Path> stream, String prefix, Iterator<Entry> entries) {}

  /** A walk. Not for several threads. */
  final class Walk implements Iterator<LocalFile>, Closeable {
    private final Filters filters;
    private final Consumer<Skipped> skipped;
    private final Deque<Level> levels = new ArrayDeque<>();
    private @Nullable LocalFile next;

    private Walk(Filters filters, Consumer<Skipped> skipped) throws IOException {
      this.filters = filters;
      this.skipped = skipped;
      levels.push(level(open(root), ""));
      advance();
    }

    @Override
    public boolean hasNext() {
      return next != null;
    }

    @Override
    public LocalFile next() {
      LocalFile file = next;
      if (file == null) {
        throw new NoSuchElementException();
      }
      advance();
      return file;
    }

    private void advance() {
      next = null;
      while (next == null && !levels.isEmpty()) {
        Level level = levels.element();
        if (!level.entries.hasNext()) {
          levels.pop();
          closeQuietly(level.stream);
          continue;
        }
        Entry entry = level.entries.next();
        if (!entry.folder) {
          next = entry.file;
          continue;
        }
        String path = level.prefix + entry.name;
        try {
          levels.push(
              level(
                  level.stream.newDirectoryStream(Path.of(entry.name), LinkOption.NOFOLLOW_LINKS),
                  path + "/"));
        } catch (IOException failed) {
          skipped.accept(new Skipped(path + "/", unreadable(failed), false));
        }
      }
    }

    private Level level(DirectoryStream<Path> opened, String prefix) throws IOException {
      SecureDirectoryStream<Path> stream = secure(opened);
      List<Entry> entries = new ArrayList<>();
      try {
        for (Path found : stream) {
          add(entries, stream, prefix, found.getFileName());
        }
      } catch (IOException | java.nio.file.DirectoryIteratorException failed) {
        stream.close();
        throw failed instanceof IOException io
            ? io
            : ((java.nio.file.DirectoryIteratorException) failed).getCause();
      }
      entries.sort((one, other) -> KeyOrder.KEYS.compare(one.sortKey(), other.sortKey()));
      return new Level(stream, prefix, entries.iterator());
    }

    private void add(
        List<Entry> entries, SecureDirectoryStream<Path> stream, String prefix, Path found)
        throws IOException {
      String name = found.toString();
      String path = prefix + name;
      BasicFileAttributes facts;
      try {
        facts = facts(stream, found);
      } catch (NoSuchFileException gone) {
        return;
      } catch (IOException failed) {
        if (!Filters.isOurs(path)) {
          skipped.accept(new Skipped(path, unreadable(failed), false));
        }
        return;
      }
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
        entries.add(new Entry(name, true, new LocalFile(path, 0, java.time.Instant.EPOCH)));
      } else if (facts.isRegularFile()) {
        entries.add(new Entry(name, false, LocalFile.of(path, facts)));
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
      levels.forEach(level -> closeQuietly(level.stream));
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
