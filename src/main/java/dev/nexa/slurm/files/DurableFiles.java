package dev.nexa.slurm.files;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes that leave either what was there before or the whole new content, also after a crash or on
 * a full disk. A failure is an {@link UncheckedIOException} that names the path.
 */
public final class DurableFiles {
  private static final AtomicLong COUNTER = new AtomicLong();
  private static final long PID = ProcessHandle.current().pid();

  private final Sync sync;

  public DurableFiles(Sync sync) {
    this.sync = sync;
  }

  /** Files on the real disk. */
  public static DurableFiles onDisk() {
    return new DurableFiles(Sync.DISK);
  }

  /** Replaces the file's content: temp, fsync, rename, fsync of the directory. */
  public void replace(Path file, String content) {
    replace(file, content.getBytes(StandardCharsets.UTF_8), "rw-r--r--");
  }

  /** The same with given bytes and permissions ({@code r--------}). */
  public void replace(Path file, byte[] content, String permissions) {
    Path temp = sibling(file);
    try {
      try {
        write(temp, content, permissions);
        Files.move(temp, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(temp);
      }
      sync.force(parent(file));
    } catch (IOException failed) {
      throw failure("write", file, failed);
    }
  }

  /**
   * Makes a new file, whole or not at all, and never over one that is there; the caller forces the
   * directory, once for many of them.
   */
  public void create(Path file, byte[] content, String permissions) {
    Path temp = sibling(file);
    try {
      try {
        write(temp, content, permissions);
        Files.createLink(file, temp);
      } finally {
        Files.deleteIfExists(temp);
      }
    } catch (IOException failed) {
      throw failure("write", file, failed);
    }
  }

  /**
   * Makes a new file, whole and durable; false if one is there: who gets true owns the name, also
   * on a network file system, where the answer to a link that was made may get lost (open(2),
   * O_EXCL).
   */
  public boolean claim(Path file, byte[] content, String permissions) {
    Path temp = sibling(file);
    try {
      try {
        write(temp, content, permissions);
        Files.createLink(file, temp);
      } catch (FileAlreadyExistsException taken) {
        if (!Files.exists(file) || !Files.isSameFile(file, temp)) {
          return false;
        }
      } finally {
        Files.deleteIfExists(temp);
      }
      sync.force(parent(file));
      return true;
    } catch (IOException failed) {
      throw failure("write", file, failed);
    }
  }

  private void write(Path file, byte[] content, String permissions) throws IOException {
    Files.write(file, content, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }
    sync.force(file);
  }

  /**
   * Appends to a file, durably; makes the file if it is not there. Only the holder of a lock may
   * call this.
   */
  public void append(Path file, String content) {
    ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8));
    boolean existed = Files.exists(file);
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
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

  /** Cuts a file to its first bytes, durably. */
  public void truncate(Path file, long bytes) {
    try (SeekableByteChannel channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
      channel.truncate(bytes);
      if (channel instanceof FileChannel disk) {
        sync.force(disk, file);
      }
    } catch (IOException failed) {
      throw failure("truncate", file, failed);
    }
  }

  /** Creates the directory; false if it was there: who gets true owns the name. */
  public boolean claimDirectory(Path directory) {
    try {
      Files.createDirectory(directory);
      return true;
    } catch (FileAlreadyExistsException taken) {
      return false;
    } catch (IOException failed) {
      throw failure("create", directory, failed);
    }
  }

  /** Creates the directory and those above it, where missing. */
  public void directories(Path directory) {
    try {
      Files.createDirectories(directory);
    } catch (IOException failed) {
      throw failure("create", directory, failed);
    }
  }

  /** Creates an empty file, durably; one that is there is left alone. */
  public void mark(Path file) {
    try {
      Files.createFile(file);
      sync.force(parent(file));
    } catch (FileAlreadyExistsException alreadyMarked) {
      // What was asked for is so.
    } catch (IOException failed) {
      throw failure("create", file, failed);
    }
  }

  /**
   * Removes a file; one that is not there is left so. After a power cut it may be there again: who
   * reads marks must be able to find one once more.
   */
  public void unmark(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException failed) {
      throw failure("delete", file, failed);
    }
  }

  /** Removes a directory, durably, if nothing is in it; false if something is. */
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
   * Removes temporary files that begin so and were last written before that: their writers are
   * dead, as the caller knows by a lock, or by the time.
   */
  public void sweep(Path folder, String prefix, Instant before) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, prefix + "*.tmp")) {
      for (Path temp : found) {
        if (Files.getLastModifiedTime(temp, LinkOption.NOFOLLOW_LINKS)
            .toInstant()
            .isBefore(before)) {
          Files.deleteIfExists(temp);
        }
      }
    } catch (NoSuchFileException none) {
      // There is no folder, and nothing in it.
    } catch (IOException | DirectoryIteratorException failed) {
      throw new UncheckedIOException(
          "Cannot clean " + folder + ": " + failed.getMessage(),
          failed instanceof IOException io ? io : ((DirectoryIteratorException) failed).getCause());
    }
  }

  /** Points the symbolic link at the target, replacing what it pointed at, atomically. */
  public void link(Path link, Path target) {
    Path temp = sibling(link);
    try {
      Files.createSymbolicLink(temp, target);
      Files.move(temp, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException failed) {
      throw failure("link", link, failed);
    }
  }

  /** Forces a directory's names to the disk. */
  public void force(Path directory) {
    try {
      sync.force(directory);
    } catch (IOException failed) {
      throw failure("fsync", directory, failed);
    }
  }

  /** The file's text. */
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
   * The text of a file that others may have put there: no link is followed, nothing but a regular
   * file is opened (a pipe would wait for ever), and of one that is too large nothing is read.
   *
   * @param most bytes that it may have
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

  /** The file's bytes. */
  public static byte[] readBytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException missing) {
      throw new UncheckedIOException("No such file: " + file, missing);
    } catch (IOException failed) {
      throw failure("read", file, failed);
    }
  }

  /** When the file was last written, by the clock of its file system. */
  public static Instant written(Path file) {
    try {
      return Files.getLastModifiedTime(file).toInstant();
    } catch (IOException failed) {
      throw failure("read", file, failed);
    }
  }

  /**
   * Bytes of all files in a folder and those below it; 0 where there is none. Links are not
   * followed.
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

  /** A name beside the file that no other process or thread uses. */
  private static Path sibling(Path file) {
    return file.resolveSibling(
        "." + file.getFileName() + "." + PID + "." + COUNTER.incrementAndGet() + ".tmp");
  }

  private static Path parent(Path file) {
    Path parent = file.toAbsolutePath().getParent();
    return parent == null ? file.getRoot() : parent;
  }

  public static UncheckedIOException failure(String verb, Path file, IOException cause) {
    return new UncheckedIOException("Cannot " + verb + " " + file + ": " + reason(cause), cause);
  }

  /** Java's file exceptions name the path and, only sometimes, the reason. */
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
    String message = cause.getMessage();
    return message == null ? cause.getClass().getSimpleName() : message;
  }
}
