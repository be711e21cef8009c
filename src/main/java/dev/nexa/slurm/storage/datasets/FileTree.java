package dev.nexa.slurm.storage.datasets;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.text.VisibleText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Walks the files of a dataset in the order of their paths. Only the names of the folders on the
 * way to the present file are in memory.
 *
 * <p>A dataset holds regular files and folders only. Any other thing in it, such as a link, is an
 * error that names it, because its bytes could lie anywhere.
 */
final class FileTree implements Iterator<FileTree.Found> {
  private static final int PART = 1 << 18;

  private final Path root;
  private final Deque<Iterator<String>> folders = new ArrayDeque<>();
  private @Nullable Found next;

  /**
   * A file of the tree.
   *
   * @param path its path below the dataset
   * @param file where it is
   */
  record Found(String path, Path file, BasicFileAttributes attributes) {}

  /**
   * Begins a walk.
   *
   * @param root the dataset's folder or its only file, with all links resolved
   */
  FileTree(Path root) {
    this.root = root;
    BasicFileAttributes attributes = attributes(root);
    if (attributes.isDirectory()) {
      folders.push(names(root, "").iterator());
      next = advance();
    } else {
      next = found(fileName(root), root, attributes);
    }
  }

  @Override
  public boolean hasNext() {
    return next != null;
  }

  @Override
  public Found next() {
    Found found = next;
    if (found == null) {
      throw new NoSuchElementException();
    }
    next = advance();
    return found;
  }

  private @Nullable Found advance() {
    while (!folders.isEmpty()) {
      Iterator<String> names = folders.peek();
      if (!names.hasNext()) {
        folders.pop();
        continue;
      }
      String path = names.next();
      if (path.endsWith("/")) {
        folders.push(names(root.resolve(path), path).iterator());
        continue;
      }
      Path file = root.resolve(path);
      return found(path, file, attributes(file));
    }
    return null;
  }

  private static Found found(String path, Path file, BasicFileAttributes attributes) {
    if (!attributes.isRegularFile()) {
      throw new NexaException(
          ErrorCode.FILE_NOT_REGULAR,
          VisibleText.line(file.toString())
              + " is "
              + (attributes.isSymbolicLink() ? "a link" : "a pipe, a socket or a device")
              + ": a dataset holds regular files only",
          Advice.step("copy the file to its place, or register the folder that the link leads to"));
    }
    return new Found(path, file, attributes);
  }

  /**
   * Returns the paths of what a folder holds, in order; a folder's path ends in {@code /}, so that
   * its files come where their whole paths belong.
   */
  private static List<String> names(Path folder, String above) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        String name = fileName(entry);
        names.add(above + name + (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS) ? "/" : ""));
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder, failed);
    } catch (DirectoryIteratorException failed) {
      throw DurableFiles.failure(
          "read", folder, new IOException(String.valueOf(failed.getMessage()), failed));
    }
    names.sort(NamesOfFiles.ORDER);
    return names;
  }

  /** Returns the name, which the list of files must be able to hold on one line. */
  private static String fileName(Path file) {
    String name = String.valueOf(file.getFileName());
    boolean plain = isUtf8(name);
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      plain &= c != '"' && c != '\\' && !Character.isISOControl(c);
    }
    if (!plain) {
      throw new NexaException(
          ErrorCode.PATH_UNUSABLE,
          "the name "
              + VisibleText.line(file.toString())
              + " has a control character, '\"', '\\' or bytes that are not UTF-8: the list of a"
              + " dataset's files cannot hold it",
          Advice.step("rename the file"),
          Advice.step(
              "if the name is right, this shell's locale cannot express it: set LC_ALL=C.UTF-8"));
    }
    return name;
  }

  private static boolean isUtf8(String name) {
    try {
      StandardCharsets.UTF_8.newEncoder().encode(java.nio.CharBuffer.wrap(name));
      return name.indexOf('\uFFFD') < 0;
    } catch (CharacterCodingException half) {
      return false;
    }
  }

  private static BasicFileAttributes attributes(Path file) {
    try {
      return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }

  /**
   * Reads a file that was found.
   *
   * @param bytes gets the bytes, but not the file
   * @param reading gets the file and the number of its bytes
   * @throws NexaException if somebody writes to it meanwhile
   */
  static DatasetFile read(Found found, FileReading bytes, Running reading) {
    MessageDigest digest = Sha256.digest();
    ByteBuffer part = ByteBuffer.allocate(PART);
    long size = 0;
    try (InputStream in =
        Channels.newInputStream(
            Files.newByteChannel(
                found.file(), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      for (int read = in.read(part.array()); read >= 0; read = in.read(part.array())) {
        digest.update(part.array(), 0, read);
        bytes.part(found.path(), part.array(), read);
        size += read;
        reading.done(0, read);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", found.file(), failed);
    }
    BasicFileAttributes after = attributes(found.file());
    if (size != found.attributes().size()
        || !after.lastModifiedTime().equals(found.attributes().lastModifiedTime())) {
      throw new NexaException(
          ErrorCode.CONCURRENT_CHANGE,
          found.file() + " changed while it was read",
          Advice.step("type the command again when nobody writes to the dataset"));
    }
    reading.done(1, 0);
    return new DatasetFile(found.path(), size, Sha256.hex(digest));
  }
}
