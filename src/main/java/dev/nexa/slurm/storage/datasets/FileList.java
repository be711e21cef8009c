package dev.nexa.slurm.storage.datasets;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonStream;
import dev.nexa.slurm.base.progress.Progress.Running;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The list of a version's files with their checksums, {@code manifests/datasets/NAME@VERSION.json}.
 * It is written and read file by file, in the order of the paths, one line for each file; the job
 * script reads these lines (templates/lib/dataset.ftl).
 *
 * <p>The root is the SHA-256 of the line {@code nexa-dataset-1} and of one line {@code SHA256 BYTES
 * PATH} for each file.
 */
final class FileList {
  private static final String FILES = "files";
  private static final String HEAD = "nexa-dataset-1\n";

  /**
   * What a list comes to.
   *
   * @param root the SHA-256 over all files
   * @param newest the time at which the newest file was written
   */
  record Totals(String root, long files, long bytes, Instant newest) {}

  private FileList() {}

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
   * Reads a list, file by file.
   *
   * @param root the root that the registry holds
   * @param each receives the files in their order, before the root was compared
   * @throws NexaException if it is missing or is not the list that was registered
   */
  static void read(Path list, String reference, String root, Consumer<DatasetFile> each) {
    Root sum = new Root();
    try (Reader text = Files.newBufferedReader(list)) {
      JsonStream.read(
          text,
          FILES,
          (json, line) -> {
            DatasetFile file = DatasetFile.fromJson(json);
            sum.add(file);
            each.accept(file);
          });
    } catch (IOException failed) {
      throw damaged(list, reference, DurableFiles.reason(failed), failed);
    } catch (IllegalArgumentException | UncheckedIOException broken) {
      throw damaged(list, reference, String.valueOf(broken.getMessage()), broken);
    }
    requireRoot(list, reference, root, sum);
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
    } catch (IOException failed) {
      throw damaged(list, reference, DurableFiles.reason(failed), failed);
    } catch (IllegalArgumentException | UncheckedIOException broken) {
      throw damaged(list, reference, String.valueOf(broken.getMessage()), broken);
    }
    requireRoot(list, reference, root, sum);
    try {
      return lines(list);
    } catch (IOException failed) {
      throw damaged(list, reference, DurableFiles.reason(failed), failed);
    }
  }

  @SuppressWarnings("StreamResourceLeak") // The caller closes it.
  private static Stream<DatasetFile> lines(Path list) throws IOException {
    return Files.lines(list)
        .filter(line -> line.startsWith("{\"path\""))
        .map(line -> line.endsWith(",") ? line.substring(0, line.length() - 1) : line)
        .map(line -> DatasetFile.fromJson(Json.parseObject(line)));
  }

  private static void requireRoot(Path list, String reference, String root, Root sum) {
    String found = sum.totals(Instant.EPOCH).root();
    if (!found.equals(root)) {
      throw damaged(
          list,
          reference,
          "its files come to the root " + found + ", the registry holds " + root,
          new IllegalArgumentException(found));
    }
  }

  private static NexaException damaged(Path list, String reference, String why, Throwable cause) {
    return new NexaException(
        ErrorCode.RECORD_DAMAGED,
        list + " is not the list of files that was registered as " + reference + ": " + why,
        cause,
        Advice.step(
            "bring the file back from a backup or from S3; or register the same data under the same"
                + " name again, which writes the list again"));
  }
}
