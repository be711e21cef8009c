package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes files so that a crash or a full disk leaves either the old content or the whole new
 * content, unless a method says otherwise.
 *
 * <p>Every failure is an {@link UncheckedIOException} that names the path.
 */
public final class DurableFiles {
  private static final AtomicLong COUNTER = new AtomicLong();
  private static final long PID = ProcessHandle.current().pid();
  private static final String HOST = host();
  private static final String TEMPORARY = ".tmp";

  /**
   * Minimum age before a file of this host is removed: clocks differ, and so do process ids in
   * containers.
   */
  private static final Duration YOUNG = Duration.ofMinutes(2);

  /** A temporary file of this age is abandoned, whichever host made it. */
  private static final Duration OLD = Duration.ofHours(1);

  private final Sync sync;

  public DurableFiles(Sync sync) {
    this.sync = sync;
  }

  /** Returns an instance that forces files to the real disk. */
  public static DurableFiles onDisk() {
    return new DurableFiles(Sync.DISK);
  }

  /** Says that a step of a change of several files is done; only tests listen. */
  public void passed(Enum<?> step) {
    sync.passed(step);
  }

  /**
   * Replaces the file's content atomically and durably, with mode 0644.
   *
   * <p>Writes a temporary file beside it, forces it to disk, renames it and forces the directory.
   */
  public void replace(Path file, String content) {
    replace(file, content.getBytes(StandardCharsets.UTF_8), "rw-r--r--");
  }

  /**
   * Replaces the file's content atomically and durably.
   *
   * @param permissions in the form {@code r--------}
   */
  public void replace(Path file, byte[] content, String permissions) {
    replace(file, out -> out.write(content), permissions);
  }

  private void replace(Path file, Content content, String permissions) {
    make(
        file,
        true,
        temp -> {
          write(temp, content, permissions);
          move(temp, file);
          return true;
        });
  }

  /** Makes a file from a temporary file beside it; returns false if it has left the file alone. */
  @FunctionalInterface
  private interface Making {
    boolean from(Path temp) throws IOException;
  }

  /** Makes a file, and removes what is left of the temporary file. */
  private boolean make(Path file, boolean durable, Making making) {
    Path temp = temporary(file);
    try {
      boolean made;
      try {
        made = making.from(temp);
      } finally {
        Files.deleteIfExists(temp);
      }
      if (made && durable) {
        sync.force(parent(file));
      }
      return made;
    } catch (IOException failed) {
      throw failure("write", file, failed);
    }
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * Creates a file with its whole content, and never replaces one. The content is forced to disk.
   *
   * <p>The caller forces the directory, once for many files, with {@link #force}.
   *
   * @throws UncheckedIOException also if the file exists
   */
  public void create(Path file, byte[] content, String permissions) {
    make(
        file,
        false,
        temp -> {
          write(temp, out -> out.write(content), permissions);
          Files.createLink(file, temp);
          return true;
        });
  }

  /**
   * Creates a file with its whole content, without forcing it to disk.
   *
   * <p>After a power cut the file may be empty or missing.
   *
   * @return false if the file exists
   */
  public boolean claim(Path file, String content) {
    Path temp = temporary(file);
    try {
      try {
        FileModes.write(temp, content.getBytes(StandardCharsets.UTF_8), FileModes.USUAL);
        return link(temp, file);
      } finally {
        Files.deleteIfExists(temp);
      }
    } catch (IOException failed) {
      throw failure("create", file, failed);
    }
  }

  /**
   * Creates a file with its whole content, durably. A caller that gets true owns the name.
   *
   * <p>This also holds on a network file system, where the server can make the link and the reply
   * can get lost (open(2), O_EXCL).
   *
   * @return false if the file exists
   */
  public boolean claim(Path file, byte[] content, String permissions) {
    return claim(file, out -> out.write(content), permissions);
  }

  /** Writes the content of a file that need not fit into memory. */
  @FunctionalInterface
  public interface Content {
    /** Writes all bytes. An exception leaves no file. */
    void writeTo(OutputStream out) throws IOException;
  }

  /**
   * Creates a file with its whole content, durably, part by part. A caller that gets true owns the
   * name.
   *
   * @return false if the file exists
   */
  public boolean claim(Path file, Content content, String permissions) {
    return make(
        file,
        true,
        temp -> {
          write(temp, content, permissions);
          return link(temp, file);
        });
  }

  /**
   * Copies a file, atomically and durably, with mode 0644. Replaces an older copy.
   *
   * @param from the file to read
   * @param file the copy
   */
  public void copy(Path from, Path file) {
    copy(from, file, FileModes.USUAL);
  }

  /** Copies a file as {@link #copy(Path, Path)} does, with these permissions. */
  public void copy(Path from, Path file, String permissions) {
    replace(file, out -> Files.copy(from, out), permissions);
  }

  /**
   * Gives a temporary file its name. On a network file system the link may be made although the
   * reply got lost, so the two files are compared.
   *
   * @return false if another file has the name, or had it until a moment ago
   */
  private static boolean link(Path temp, Path file) throws IOException {
    try {
      Files.createLink(file, temp);
      return true;
    } catch (FileAlreadyExistsException taken) {
      try {
        return Files.isSameFile(file, temp);
      } catch (NoSuchFileException released) {
        return false;
      }
    }
  }

  private void write(Path file, Content content, String permissions) throws IOException {
    FileModes.write(file, content, permissions);
    FileModes.set(file, permissions);
    sync.force(file);
  }

  /**
   * Appends UTF-8 text to a file, durably. Creates the file if it is missing.
   *
   * <p>The append is not atomic: the caller must hold a lock, and a crash can cut the text short.
   */
  public void append(Path file, String content) {
    ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8));
    boolean existed = Files.exists(file);
    try (SeekableByteChannel channel = FileModes.append(file, existed)) {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      if (channel instanceof FileChannel disk) {
        sync.force(disk, file);
      }
    } catch (IOException failed) {
      throw failure("append to", file, failed);
    }
    if (!existed) {
      force(parent(file));
    }
  }

  /** Truncates a file to its first {@code bytes} bytes, durably. */
  public void truncate(Path file, long bytes) {
    try {
      FileModes.requireOwn(file);
      try (SeekableByteChannel channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
        channel.truncate(bytes);
        if (channel instanceof FileChannel disk) {
          sync.force(disk, file);
        }
      }
    } catch (IOException failed) {
      throw failure("truncate", file, failed);
    }
  }

  /**
   * Creates the directory. A caller that gets true owns the name.
   *
   * @return false if the directory exists
   */
  public boolean claimDirectory(Path directory) {
    try {
      FileModes.createDirectory(directory);
      return true;
    } catch (FileAlreadyExistsException taken) {
      return false;
    } catch (IOException failed) {
      throw failure("create", directory, failed);
    }
  }

  /**
   * Creates the directory and its missing parents.
   *
   * @throws UncheckedIOException also if another user has put a link there
   */
  public void directories(Path directory) {
    if (Files.isDirectory(directory)) {
      requireNotPlanted(directory);
      return;
    }
    Path parent = directory.getParent();
    if (parent != null) {
      directories(parent);
    }
    try {
      FileModes.createDirectory(directory);
    } catch (FileAlreadyExistsException there) {
      if (!Files.isDirectory(directory)) {
        throw failure("create", directory, there);
      }
    } catch (IOException failed) {
      throw failure("create", directory, failed);
    }
  }

  /**
   * Checks that no other user has put a link there.
   *
   * @throws UncheckedIOException if one has
   */
  public static void requireNotPlanted(Path path) {
    try {
      if (FileOwner.isPlanted(path)) {
        throw new FileSystemException(path.toString(), null, "another user has put a link there");
      }
    } catch (IOException failed) {
      throw failure("use", path, failed);
    }
  }

  /** Creates an empty file, durably. Does not change an existing file. */
  public void mark(Path file) {
    try {
      FileModes.write(file, new byte[0], FileModes.USUAL);
      sync.force(parent(file));
    } catch (FileAlreadyExistsException alreadyMarked) {
      // The file exists, which is the goal.
    } catch (IOException failed) {
      throw failure("create", file, failed);
    }
  }

  /**
   * Removes a file if it exists.
   *
   * <p>The removal is not durable: after a power cut the file may exist again, and its readers must
   * accept that.
   */
  public void unmark(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException failed) {
      throw failure("delete", file, failed);
    }
  }

  /**
   * Removes a directory, durably, if it is empty or missing.
   *
   * @return false if the directory is not empty
   */
  public boolean removeEmpty(Path directory) {
    try {
      Files.deleteIfExists(directory);
      sync.force(parent(directory));
      return true;
    } catch (DirectoryNotEmptyException used) {
      return false;
    } catch (IOException failed) {
      throw failure("delete", directory, failed);
    }
  }

  /**
   * Removes the temporary files in a folder whose names begin with a prefix.
   *
   * <p>The caller holds a lock and so knows that their writers are dead. Temporary files of the
   * lock itself stay, because other processes may be about to take it.
   *
   * @param lock the lock's file name
   */
  public void sweep(Path folder, String prefix, String lock) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, prefix + "*" + TEMPORARY)) {
      for (Path temp : found) {
        if (!temp.getFileName().toString().startsWith("." + lock + ".")) {
          Files.deleteIfExists(temp);
        }
      }
    } catch (NoSuchFileException none) {
      // A missing folder has no temporary files.
    } catch (IOException | DirectoryIteratorException failed) {
      throw new UncheckedIOException(
          "Cannot clean " + folder + ": " + failed.getMessage(),
          failed instanceof IOException io ? io : ((DirectoryIteratorException) failed).getCause());
    }
  }

  /**
   * Points a symbolic link at a target, atomically. Replaces an existing link.
   *
   * @param folder where the new link is made before it is renamed; on the file system of {@code
   *     link}
   */
  public void link(Path link, Path target, Path folder) {
    Path temp = temporary(folder.resolve(link.getFileName()));
    try {
      Files.createSymbolicLink(temp, target);
      move(temp, link);
    } catch (IOException failed) {
      throw failure("link", link, failed);
    }
  }

  /** Forces the names in a directory to disk. */
  public void force(Path directory) {
    try {
      sync.force(directory);
    } catch (IOException failed) {
      throw failure("fsync", directory, failed);
    }
  }

  /** Returns the file's content, decoded as UTF-8. */
  public static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException missing) {
      throw new UncheckedIOException("No such file: " + file, missing);
    } catch (IOException failed) {
      throw failure("read", file, failed);
    }
  }

  /**
   * Returns the content of a file that another user may have put there, decoded as UTF-8.
   *
   * <p>Follows no link and opens only a regular file, because opening a pipe would block.
   *
   * @param most the largest size in bytes; a larger file is an error
   */
  public static String readRegular(Path file, int most) {
    try {
      BasicFileAttributes attributes =
          Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!attributes.isRegularFile()) {
        throw new IOException("it is no file");
      }
      try (InputStream in =
          Files.newInputStream(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
        byte[] bytes = in.readNBytes(most + 1);
        if (bytes.length > most) {
          throw new IOException("it has more than " + most + " bytes");
        }
        return new String(bytes, StandardCharsets.UTF_8);
      }
    } catch (IOException failed) {
      throw failure("read", file, failed);
    }
  }

  /** Returns the file's content. */
  public static byte[] readBytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException missing) {
      throw new UncheckedIOException("No such file: " + file, missing);
    } catch (IOException failed) {
      throw failure("read", file, failed);
    }
  }

  /** Returns the file's modification time, by the clock of its file system. */
  public static Instant written(Path file) {
    try {
      return Files.getLastModifiedTime(file).toInstant();
    } catch (IOException failed) {
      throw failure("read", file, failed);
    }
  }

  /**
   * Returns the total size in bytes of all regular files below a folder; 0 if the folder is
   * missing.
   *
   * <p>Does not follow links.
   */
  public static long bytesUnder(Path folder) {
    if (Files.notExists(folder)) {
      return 0;
    }
    long[] bytes = {0};
    try {
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              bytes[0] += attributes.isRegularFile() ? attributes.size() : 0;
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException failed) {
      throw failure("read", folder, failed);
    }
    return bytes[0];
  }

  /**
   * Returns an unused name beside the file: {@code .NAME.HOST.PID.N.tmp}.
   *
   * <p>All temporary files have such a name. {@link #sweepDead} reads from it which process made
   * the file.
   */
  public static Path temporary(Path file) {
    String name = file.getFileName() + "." + HOST + "." + PID + "." + COUNTER.incrementAndGet();
    return file.resolveSibling("." + name + TEMPORARY);
  }

  /** Returns whether a file's name has the form of this program's temporary files. */
  public static boolean isTemporary(String name) {
    return name.matches("\\..+\\..+\\.\\d+\\.\\d+\\" + TEMPORARY);
  }

  /** Returns this machine's name, shortened and escaped for use in a file name. */
  private static String host() {
    try {
      String name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
      return name.substring(0, Math.min(name.length(), 48)).replace('.', '-').replace('/', '-');
    } catch (IOException unknown) {
      return "host";
    }
  }

  /**
   * Removes temporary files whose makers are dead, as far as that is possible. Throws nothing.
   *
   * <p>A file of this host is removed if its process is gone and it is older than 2 minutes. A file
   * of any host is removed if it is older than 1 hour.
   */
  public static void sweepDead(Path folder, Instant now) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, ".*" + TEMPORARY)) {
      if (FileOwner.isPlanted(folder)) {
        return;
      }
      for (Path temp : found) {
        Instant written = Files.getLastModifiedTime(temp, LinkOption.NOFOLLOW_LINKS).toInstant();
        boolean old = written.isBefore(now.minus(OLD));
        if (old || (written.isBefore(now.minus(YOUNG)) && makerIsDead(temp))) {
          deleteIfAllowed(temp);
        }
      }
    } catch (IOException | DirectoryIteratorException gone) {
      // The folder is missing, or another pass removed the file first.
    }
  }

  private static void deleteIfAllowed(Path temp) throws IOException {
    try {
      Files.deleteIfExists(temp);
    } catch (FileSystemException ofAnotherUser) {
      // Its owner's pass removes it.
      return;
    }
  }

  private static boolean makerIsDead(Path temp) {
    String[] part = temp.getFileName().toString().split("\\.", -1);
    int pid = part.length - 3;
    if (pid < 2 || !part[pid - 1].equals(HOST) || !isNumber(part[pid])) {
      return false;
    }
    return ProcessHandle.of(Long.parseLong(part[pid])).isEmpty();
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty()
        && text.length() < 19
        && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /** Returns the path, or the nearest folder above it that exists. */
  public static Path nearest(Path path) {
    Path nearest = path;
    while (!Files.exists(nearest) && nearest.getParent() != null) {
      nearest = nearest.getParent();
    }
    return nearest;
  }

  /**
   * Says where a link leads if nothing is there; empty if it is no link, if it leads somewhere, or
   * if it leads into a folder that is closed to this user.
   */
  public static Optional<String> leadsNowhere(Path link) {
    if (!Files.isSymbolicLink(link) || !Files.notExists(link)) {
      return Optional.empty();
    }
    Path target = attempt("read", link, () -> Files.readSymbolicLink(link));
    return Optional.of(link + " is a link to " + target + ", where nothing is");
  }

  static Path parent(Path file) {
    Path parent = file.toAbsolutePath().getParent();
    return parent == null ? file.getRoot() : parent;
  }

  /** Returns the paths in a folder that a pattern fits, sorted; none if there is no folder. */
  public static List<Path> list(Path folder, String glob) {
    List<Path> paths = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, glob)) {
      found.forEach(paths::add);
    } catch (NoSuchFileException none) {
      return paths;
    } catch (DirectoryIteratorException failed) {
      throw failure("read", folder, Objects.requireNonNull(failed.getCause()));
    } catch (IOException failed) {
      throw failure("read", folder, failed);
    }
    Collections.sort(paths);
    return paths;
  }

  /** Something that is done with a file, and its result. */
  @FunctionalInterface
  public interface Attempt<T> {
    T result() throws IOException;
  }

  /** Something that is done with a file. */
  @FunctionalInterface
  public interface Act {
    void run() throws IOException;
  }

  /**
   * Does something with a file, and returns the result.
   *
   * @param verb what is done, for the message of {@link #failure}
   * @throws UncheckedIOException if it fails
   */
  public static <T> T attempt(String verb, Path file, Attempt<T> attempt) {
    try {
      return attempt.result();
    } catch (IOException failed) {
      throw failure(verb, file, failed);
    }
  }

  /** Does something with a file, as the other {@code attempt}. */
  public static void attempt(String verb, Path file, Act act) {
    try {
      act.run();
    } catch (IOException failed) {
      throw failure(verb, file, failed);
    }
  }

  /** Returns an exception with the message {@code Cannot VERB FILE: REASON}. */
  public static UncheckedIOException failure(String verb, Path file, IOException cause) {
    return new UncheckedIOException("Cannot " + verb + " " + file + ": " + reason(cause), cause);
  }

  /** Returns the reason of a file exception in words; Java's own message is often only the path. */
  public static String reason(IOException cause) {
    if (cause instanceof java.nio.file.AccessDeniedException) {
      return "permission denied";
    }
    if (cause instanceof java.nio.file.FileSystemException failure && failure.getReason() != null) {
      return failure.getReason();
    }
    if (cause instanceof NoSuchFileException) {
      return "it does not exist";
    }
    if (cause instanceof java.nio.file.NotDirectoryException) {
      return "it is no folder";
    }
    return Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName());
  }
}
