package dev.nexa.slurm.base.files;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Creates files and folders with fixed permissions. A stricter umask takes permissions away; a
 * looser one adds none.
 *
 * <p>A folder with the set-group-id bit can give rights to its group, whatever the umask:
 *
 * <ul>
 *   <li>Group-writable and not sticky: the group can write too, as with git's
 *       core.sharedRepository.
 *   <li>Sticky: the group can read, and only the owner can write. In a group-writable sticky folder
 *       each user makes files and folders of their own (docs/teams.md).
 * </ul>
 *
 * <p>Everywhere else only the owner can write, and the umask decides who can read.
 */
public final class FileModes {
  /** Permissions of a file that everybody may read. */
  public static final String USUAL = "rw-r--r--";

  private static final String DIRECTORY = "rwxr-xr-x";

  private static final int GROUP_WRITES_AND_INHERITS = 02020;
  private static final int STICKY_AND_INHERITS = 03000;
  private static final Set<OpenOption> NEW =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  private static final Set<OpenOption> APPEND =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);

  private FileModes() {}

  /**
   * Creates a file with the given content.
   *
   * @throws java.nio.file.FileAlreadyExistsException if the file exists
   */
  public static void write(Path file, byte[] content, String permissions) throws IOException {
    write(file, out -> out.write(content), permissions);
  }

  /**
   * Creates a file with content that is written part by part.
   *
   * @throws java.nio.file.FileAlreadyExistsException if the file exists
   */
  static void write(Path file, DurableFiles.Content content, String permissions)
      throws IOException {
    try (OutputStream out =
        new BufferedOutputStream(Channels.newOutputStream(open(file, NEW, permissions)), 1 << 16)) {
      content.writeTo(out);
    }
    share(file, permissions);
  }

  /**
   * Opens a file for appending and creates it if it is missing.
   *
   * @param exists whether the file exists; a new file gets the group's permissions
   * @throws FileSystemException if another member of the group may have put the file there
   */
  public static SeekableByteChannel append(Path file, boolean exists) throws IOException {
    if (!isAmongOthersFiles(file)) {
      SeekableByteChannel channel = open(file, APPEND, USUAL);
      if (!exists) {
        share(file, USUAL);
      }
      return channel;
    }
    if (!exists) {
      write(file, new byte[0], USUAL);
    }
    requireOwn(file);
    return Files.newByteChannel(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
  }

  /**
   * Checks that a file in a sticky folder is a regular file of this user. In such a folder no other
   * user can replace it afterwards.
   *
   * @throws FileSystemException if it is a link, or another user's
   */
  static void requireOwn(Path file) throws IOException {
    if (isAmongOthersFiles(file)) {
      Object owner = Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
          || !owner.equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))) {
        throw new FileSystemException(file.toString(), null, "another user has put it there");
      }
    }
  }

  private static boolean isAmongOthersFiles(Path file) throws IOException {
    int shared = STICKY_AND_INHERITS | GROUP_WRITES_AND_INHERITS;
    return has("unix", file) && (modeOfFolder(file) & shared) == shared;
  }

  private static SeekableByteChannel open(Path file, Set<OpenOption> how, String permissions)
      throws IOException {
    return Files.newByteChannel(file, how, attributes(file, permissions));
  }

  /**
   * Creates a folder with mode 0755.
   *
   * @throws java.nio.file.FileAlreadyExistsException if the folder exists
   */
  public static void createDirectory(Path directory) throws IOException {
    Files.createDirectory(directory, attributes(directory, DIRECTORY));
    share(directory, DIRECTORY);
  }

  /**
   * Sets the file's permissions, whatever the umask. The group of the file's folder gets its rights
   * too.
   */
  static void set(Path file, String permissions) throws IOException {
    if (has("posix", file)) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
      share(file, permissions);
    }
  }

  /** Gives the group of the folder its rights to a file or folder. */
  private static void share(Path path, String permissions) throws IOException {
    int folder = has("unix", path) ? modeOfFolder(path) : 0;
    int mode = mode(permissions);
    int group = (mode >> 3) & 070;
    int inherited = permissions.equals(DIRECTORY) ? folder & STICKY_AND_INHERITS : 0;
    if ((folder & STICKY_AND_INHERITS) == STICKY_AND_INHERITS) {
      // "rw-------" is a secret; "r--------" is a file that never changes.
      boolean secret = permissions.startsWith("rw") && permissions.endsWith("------");
      group &= secret ? 0 : 050;
      mode &= folder | 0700;
    } else if ((folder & GROUP_WRITES_AND_INHERITS) != GROUP_WRITES_AND_INHERITS
        || !(permissions.equals(USUAL) || permissions.equals(DIRECTORY))) {
      return;
    }
    Files.setAttribute(path, "unix:mode", inherited | (mode & 0707) | group);
  }

  private static int modeOfFolder(Path path) throws IOException {
    Path folder = path.toAbsolutePath().getParent();
    return folder == null ? 0 : (Integer) Files.getAttribute(folder, "unix:mode");
  }

  /** Returns the bits of permissions such as {@code rw-r--r--}. */
  public static int mode(String permissions) {
    int mode = 0;
    for (int i = 0; i < 9; i++) {
      mode = mode << 1 | (permissions.charAt(i) == '-' ? 0 : 1);
    }
    return mode;
  }

  private static FileAttribute<?>[] attributes(Path path, String permissions) {
    Set<PosixFilePermission> mode = PosixFilePermissions.fromString(permissions);
    return has("posix", path)
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(mode)}
        : new FileAttribute<?>[0];
  }

  private static boolean has(String view, Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains(view);
  }
}
