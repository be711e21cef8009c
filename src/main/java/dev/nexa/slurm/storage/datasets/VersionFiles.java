package dev.nexa.slurm.storage.datasets;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.LookAhead;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.text.VisibleText;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The list of a version's files with their checksums, {@code manifests/datasets/NAME@VERSION.json}.
 * It is written and read file by file, in the order of the paths, one line for each file; the job
 * script reads these lines (templates/lib/dataset.ftl).
 *
 * <p>The root is the SHA-256 of the line {@code nexa-dataset-1} and of one line {@code SHA256 BYTES
 * PATH} for each file.
 */
public final class VersionFiles {
  private static final String HEAD = "nexa-dataset-1\n";

  /**
   * The totals of a list.
   *
   * @param root the SHA-256 over all files
   * @param newest the time at which the newest file was written
   */
  record Totals(String root, long files, long bytes, Instant newest) {}

  private VersionFiles() {}

  /** Computes the root of files that are added in their order. */
  static final class Root {
    private final MessageDigest digest = Sha256.digest();
    private long files;
    private long bytes;

    Root() {
      digest.update(HEAD.getBytes(StandardCharsets.UTF_8));
    }

    void add(DatasetFile file) {
      digest.update(file.rootLine().getBytes(StandardCharsets.UTF_8));
      files++;
      bytes += file.bytes();
    }

    Totals totals(Instant newest) {
      return new Totals(Sha256.hex(digest), files, bytes, newest);
    }
  }

  /**
   * Reads all files of a dataset and writes their list.
   *
   * @param root the dataset's folder or its only file, with all links resolved
   * @param list the file to write; it is replaced
   * @param files gets each file
   */
  static Totals write(Path root, Path list, FileReading files, Running reading) {
    Root sum = new Root();
    Instant newest = Instant.EPOCH;
    try (BufferedWriter out = Files.newBufferedWriter(list)) {
      out.write("{\n\"schema_version\": 1,\n\"rule\": \"nexa-dataset-1\",\n\"files\": [\n");
      FileTree tree = new FileTree(root);
      while (tree.hasNext()) {
        FileTree.Found found = tree.next();
        DatasetFile file = FileTree.read(found, files, reading);
        sum.add(file);
        Instant written = found.attributes().lastModifiedTime().toInstant();
        newest = written.isAfter(newest) ? written : newest;
        out.write(file.toJson() + (tree.hasNext() ? ",\n" : "\n"));
        files.done(file);
      }
      out.write("]\n}\n");
    } catch (IOException failed) {
      throw DurableFiles.failure("write", list, failed);
    }
    return sum.totals(newest);
  }

  /**
   * Opens a list, to be read file by file. Each file is a line, as {@link #write} wrote it.
   *
   * @throws NexaException if it is missing or is not the list that was registered
   */
  static Stream<DatasetFile> open(Path list, String reference, String root) {
    Root sum = new Root();
    try (Stream<DatasetFile> files = lines(list)) {
      files.forEach(sum::add);
      String found = sum.totals(Instant.EPOCH).root();
      Arguments.require(
          found.equals(root),
          "its files come to the root " + found + ", the registry holds " + root);
      return lines(list);
    } catch (IOException | IllegalArgumentException | UncheckedIOException broken) {
      String why =
          broken instanceof IOException failed
              ? DurableFiles.reason(failed)
              : String.valueOf(broken.getMessage());
      throw ErrorCode.RECORD_DAMAGED.error(
          list + " is not the list of files that was registered as " + reference + ": " + why,
          broken,
          Advice.step(
              "bring the file back from a backup or from S3; or register the same data under the same"
                  + " name again, which writes the list again"));
    }
  }

  @SuppressWarnings("StreamResourceLeak") // The caller closes it.
  private static Stream<DatasetFile> lines(Path list) throws IOException {
    return Files.lines(list)
        .filter(line -> line.startsWith("{\"path\""))
        .map(line -> line.endsWith(",") ? line.substring(0, line.length() - 1) : line)
        .map(line -> DatasetFile.fromJson(Json.parseObject(line)));
  }

  /**
   * Walks the files of a dataset in the order of their paths. Only the names of the folders on the
   * way to the present file are in memory.
   *
   * <p>A dataset holds regular files and folders only. Any other thing in it, such as a link, is an
   * error that names it, because its bytes could lie anywhere.
   */
  static final class FileTree extends LookAhead<FileTree.Found> {
    private static final int PART = 1 << 18;

    private final Path root;
    private final Deque<Iterator<String>> folders = new ArrayDeque<>();

    /** The only file of a dataset without a folder, until it is taken. */
    private Optional<Found> only = Optional.empty();

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
      } else {
        only = Optional.of(found(fileName(root), root, attributes));
      }
    }

    @Override
    protected Optional<Found> advance() {
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
        return Optional.of(found(path, file, attributes(file)));
      }
      Optional<Found> last = only;
      only = Optional.empty();
      return last;
    }

    private static Found found(String path, Path file, BasicFileAttributes attributes) {
      if (!attributes.isRegularFile()) {
        String kind = attributes.isSymbolicLink() ? "a link" : "a pipe, a socket or a device";
        throw ErrorCode.FILE_NOT_REGULAR.error(
            "%s is %s: a dataset holds regular files only"
                .formatted(VisibleText.line(file.toString()), kind),
            "copy the file to its place, or register the folder that the link leads to");
      }
      return new Found(path, file, attributes);
    }

    /**
     * Returns the paths of what a folder holds, in order; a folder's path ends in {@code /}, so
     * that its files come where their whole paths belong.
     */
    private static List<String> names(Path folder, String above) {
      List<String> names = new ArrayList<>();
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
        for (Path entry : entries) {
          String name = fileName(entry);
          names.add(
              above + name + (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS) ? "/" : ""));
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
      boolean isUtf8 =
          StandardCharsets.UTF_8.newEncoder().canEncode(name) && name.indexOf('\uFFFD') < 0;
      if (!isUtf8
          || name.chars().anyMatch(c -> c == '"' || c == '\\' || Character.isISOControl(c))) {
        throw ErrorCode.PATH_UNUSABLE.error(
            ("the name %s has a control character, '\"', '\\' or bytes that are not UTF-8:"
                    + " the list of a dataset's files cannot hold it")
                .formatted(VisibleText.line(file.toString())),
            "rename the file",
            "if the name is right, this shell's locale cannot express it: set LC_ALL=C.UTF-8");
      }
      return name;
    }

    private static BasicFileAttributes attributes(Path file) {
      return DurableFiles.attempt(
          "read",
          file,
          () -> Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS));
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
        throw ErrorCode.CONCURRENT_CHANGE.error(
            found.file() + " changed while it was read",
            "type the command again when nobody writes to the dataset");
      }
      reading.done(1, 0);
      return new DatasetFile(found.path(), size, Sha256.hex(digest));
    }
  }

  /** Gets the files of a dataset while their bytes are read for the checksums. */
  @FunctionalInterface
  public interface FileReading {
    /**
     * Gets the next bytes of a file, in their order.
     *
     * @param path the file's path below the dataset
     * @param bytes belongs to the caller, which overwrites it afterwards
     * @param length how many bytes count
     */
    default void part(String path, byte[] bytes, int length) {}

    /** Gets a file after its last byte. */
    void done(DatasetFile file);
  }

  /**
   * One file of a dataset.
   *
   * @param path its path below the dataset, with {@code /}; for a dataset of one file, its name
   * @param bytes its size
   * @param sha256 64 hex digits; empty if nobody has read the file
   */
  public record DatasetFile(String path, long bytes, String sha256) {
    /** Returns the line of the file that the root is computed of. */
    String rootLine() {
      return sha256 + " " + bytes + " " + path + "\n";
    }

    JsonObject toJson() {
      return new JsonObject().with("path", path).with("bytes", bytes).with("sha256", sha256);
    }

    static DatasetFile fromJson(JsonObject json) {
      return new DatasetFile(json.text("path"), json.number("bytes"), json.text("sha256"));
    }
  }
}
