package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.util.Arrays;
import java.util.Set;

/**
 * Reads a file that must lie below a folder, after all links are resolved.
 *
 * <p>Opens each part of the path relative to the folder opened before it. So another process cannot
 * replace a part with a link between the check and the read. This needs a file system with {@link
 * SecureDirectoryStream}.
 */
public final class FileBelow {
  private static final Set<OpenOption> READ =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);

  private FileBelow() {}

  /**
   * Returns the file's content. Of a file larger than the limit it returns {@code mostBytes + 1}
   * bytes, so that the caller notices.
   *
   * @param folder the folder that links must not leave
   * @param file a regular file, or a link to one
   * @param mostBytes the largest size that the caller accepts
   * @throws FileSystemException if the file is outside the folder (its other file is then the real
   *     path), or is not a regular file
   * @throws IOException if it cannot be read
   */
  public static byte[] read(Path folder, Path file, int mostBytes) throws IOException {
    Path root = folder.toRealPath();
    Path real = file.toRealPath();
    if (!real.startsWith(root) || real.equals(root)) {
      throw new FileSystemException(file.toString(), real.toString(), "outside " + root);
    }
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(root)) {
      if (stream instanceof SecureDirectoryStream<Path> secure) {
        return within(secure, root.relativize(real), file, mostBytes);
      }
    }
    try (SeekableByteChannel channel = Files.newByteChannel(real, READ)) {
      return content(channel, mostBytes);
    }
  }

  private static byte[] within(
      SecureDirectoryStream<Path> folder, Path relative, Path file, int mostBytes)
      throws IOException {
    Path first = relative.getName(0);
    if (relative.getNameCount() > 1) {
      try (SecureDirectoryStream<Path> below =
          folder.newDirectoryStream(first, LinkOption.NOFOLLOW_LINKS)) {
        return within(below, relative.subpath(1, relative.getNameCount()), file, mostBytes);
      }
    }
    // Opening a named pipe would block.
    if (!folder
        .getFileAttributeView(first, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .readAttributes()
        .isRegularFile()) {
      throw new FileSystemException(file.toString(), null, "no regular file");
    }
    try (SeekableByteChannel channel = folder.newByteChannel(first, READ)) {
      return content(channel, mostBytes);
    }
  }

  private static byte[] content(SeekableByteChannel channel, int mostBytes) throws IOException {
    long size = Math.min(channel.size(), mostBytes);
    ByteBuffer content = ByteBuffer.allocate((int) size + 1);
    while (content.position() <= mostBytes && channel.read(content) >= 0) {
      if (!content.hasRemaining() && content.position() <= mostBytes) {
        int larger = (int) Math.min(mostBytes + 1L, 2L * content.capacity());
        content = ByteBuffer.allocate(larger).put(content.flip());
      }
    }
    return Arrays.copyOf(content.array(), content.position());
  }
}
