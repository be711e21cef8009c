package dev.nexa.slurm.base.files;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.Optional;
import java.util.Set;

/**
 * An open folder. Each call for a path below it is relative to this open folder (openat(2)) and
 * follows no link. So a link that replaces a folder cannot lead a call elsewhere.
 */
public final class OpenFolder implements Closeable {
  private static final Path SELF = Path.of(".");
  private static final int MOST_READS = 5;
  private static final Set<PosixFilePermission> OWNER =
      Set.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  private final SecureDirectoryStream<Path> stream;
  private final Path path;

  private OpenFolder(SecureDirectoryStream<Path> stream, Path path) {
    this.stream = stream;
    this.path = path;
  }

  /**
   * Opens a folder.
   *
   * @param root the folder, with all links resolved
   */
  @SuppressWarnings("StreamResourceLeak") // The open folder closes it.
  public static OpenFolder root(Path root) throws IOException {
    DirectoryStream<Path> stream = Files.newDirectoryStream(root);
    if (stream instanceof SecureDirectoryStream<Path> secure) {
      return new OpenFolder(secure, root);
    }
    stream.close();
    throw new FileSystemException(
        root.toString(), null, "this file system has no openat(2); nothing is changed there");
  }

  /** Opens a folder in this folder. A link is an error. */
  public OpenFolder open(Path name) throws IOException {
    return new OpenFolder(
        stream.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS), path.resolve(name));
  }

  public OpenFolder open(String name) throws IOException {
    return open(Path.of(name));
  }

  /** Opens the folder at the end of a relative path, which may be empty. */
  public OpenFolder openAll(Path relative) throws IOException {
    OpenFolder now =
        new OpenFolder(stream.newDirectoryStream(SELF, LinkOption.NOFOLLOW_LINKS), path);
    for (Path part : relative) {
      if (part.toString().isEmpty()) {
        continue;
      }
      try (OpenFolder before = now) {
        now = before.open(part);
      }
    }
    return now;
  }

  /** Where the folder was when it was opened, for messages. */
  public Path path() {
    return path;
  }

  /**
   * Does something with each entry, in no order. A name stays a Path: as a text it would lose the
   * bytes that this locale cannot express.
   */
  public interface Visit {
    void visit(Path name) throws IOException;
  }

  /** Visits the entries one by one, so that a folder may have any number of them. */
  public void forEach(Visit visit) throws IOException {
    // A stream can be read only once, and the open folder's own stream also serves the relative
    // calls.
    try (DirectoryStream<Path> entries =
        stream.newDirectoryStream(SELF, LinkOption.NOFOLLOW_LINKS)) {
      Iterator<Path> all = entries.iterator();
      while (hasNext(all)) {
        visit.visit(all.next().getFileName());
      }
    }
  }

  private static boolean hasNext(Iterator<Path> entries) throws IOException {
    try {
      return entries.hasNext();
    } catch (DirectoryIteratorException failed) {
      throw failed.getCause();
    }
  }

  /** Returns the attributes of an entry itself, also of a link; empty if there is none. */
  public Optional<PosixFileAttributes> attributes(Path name) throws IOException {
    try {
      return Optional.of(
          stream
              .getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
              .readAttributes());
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
  }

  public Optional<PosixFileAttributes> attributes(String name) throws IOException {
    return attributes(Path.of(name));
  }

  /** Returns whether an entry is a folder, and no link to one. */
  public boolean isFolder(Path name) throws IOException {
    return attributes(name).filter(PosixFileAttributes::isDirectory).isPresent();
  }

  /** Returns the user of this process. */
  public static UserPrincipal me() {
    return DurableFiles.attempt(
        "read", Path.of("/proc/self"), () -> Files.getOwner(Path.of("/proc/self")));
  }

  /** Returns the identity of an entry: its device and inode. */
  public static String identity(PosixFileAttributes attributes) {
    return String.valueOf(attributes.fileKey());
  }

  /** Returns the device of an entry, as text. */
  public static String device(PosixFileAttributes attributes) {
    String identity = identity(attributes);
    return identity.substring(0, Math.max(0, identity.indexOf(',')));
  }

  /** Opens a file for reading. A link is an error. */
  public SeekableByteChannel read(Path name) throws IOException {
    return stream.newByteChannel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  /**
   * Returns the text of a small file.
   *
   * @param most the largest size in bytes; a larger file is an error
   * @return empty if there is no regular file of this name; a link is none
   */
  public Optional<String> text(Path name, int most) throws IOException {
    Optional<PosixFileAttributes> attributes = attributes(name);
    if (attributes.isEmpty() || !attributes.get().isRegularFile()) {
      return Optional.empty();
    }
    if (attributes.get().size() > most) {
      throw new FileSystemException(
          path.resolve(name).toString(), null, "it has more than " + most + " bytes");
    }
    try (SeekableByteChannel channel = read(name)) {
      ByteBuffer bytes = ByteBuffer.allocate((int) attributes.get().size());
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {}
      return Optional.of(new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8));
    } catch (NoSuchFileException gone) {
      return Optional.empty();
    }
  }

  /** Moves an entry into another open folder of this file system, by one rename. */
  public void move(Path name, OpenFolder to, Path newName) throws IOException {
    stream.move(name, to.stream, newName);
  }

  /** Removes a file or a link, never what a link leads to. */
  public void deleteFile(Path name) throws IOException {
    stream.deleteFile(name);
  }

  /** Removes an empty folder. */
  public void deleteFolder(Path name) throws IOException {
    stream.deleteDirectory(name);
  }

  /** Removes a folder with all that is below it, except what links lead to. */
  public static void deleteWhole(Path folder) throws IOException {
    Path parent = folder.getParent();
    if (parent == null || !Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (OpenFolder open = root(parent)) {
      open.deleteTree(folder.getFileName(), () -> {});
    }
  }

  /**
   * Removes an entry with all that is below it, except what links lead to.
   *
   * @param removed called after each removed file and link
   */
  public void deleteTree(Path name, Runnable removed) throws IOException {
    Optional<PosixFileAttributes> attributes = attributes(name);
    if (attributes.isEmpty()) {
      return;
    }
    if (!attributes.get().isDirectory()) {
      deleteFile(name);
      removed.run();
      return;
    }
    letOwnerIn(name, attributes.get());
    for (int n = 1; ; n++) {
      try (OpenFolder folder = open(name)) {
        folder.forEach(entry -> folder.deleteTree(entry, removed));
      }
      try {
        deleteFolder(name);
        return;
      } catch (DirectoryNotEmptyException skipped) {
        // Some file systems skip entries of a folder that changes while it is read.
        if (n == MOST_READS) {
          throw skipped;
        }
      }
    }
  }

  /** Lets the owner remove what is in a folder that its owner made read-only. */
  private void letOwnerIn(Path name, PosixFileAttributes attributes) throws IOException {
    Set<PosixFilePermission> permissions = EnumSet.copyOf(OWNER);
    permissions.addAll(attributes.permissions());
    if (permissions.size() > attributes.permissions().size()) {
      stream
          .getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .setPermissions(permissions);
    }
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
