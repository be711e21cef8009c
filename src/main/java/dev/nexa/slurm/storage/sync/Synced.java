package dev.nexa.slurm.storage.sync;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The state of a file and its object from when both were last known to be equal.
 *
 * @param bytes the size; negative if the file and the object were removed
 * @param modified the file's time
 * @param sha256 the digest; empty if it is not known
 * @param etag the object's version
 */
record Synced(String path, long bytes, Instant modified, Optional<String> sha256, String etag) {
  /** A file that was changed so shortly before it was read can change again at the same time. */
  private static final Duration TOO_YOUNG = Duration.ofSeconds(2);

  /**
   * Returns the record of a file that was read. If the file was changed right before, the record
   * holds no time, because a clock's tick can hide a later change. So the next sync compares the
   * file again.
   *
   * @param read when the reading began
   */
  static Synced of(LocalFile file, Instant read, String sha256, String etag) {
    boolean young = file.modified().isAfter(read.minus(TOO_YOUNG));
    Instant modified = young ? Instant.EPOCH : file.modified();
    return new Synced(file.path(), file.bytes(), modified, Optional.of(sha256), etag);
  }

  static Synced removed(String path) {
    return new Synced(path, -1, Instant.EPOCH, Optional.empty(), "-");
  }

  boolean isRemoved() {
    return bytes < 0;
  }

  boolean holds(LocalFile file) {
    return file.bytes() == bytes && file.modified().equals(modified);
  }

  boolean holds(ObjectStore.Listed object) {
    return object.bytes() == bytes && object.etag().equals(etag);
  }

  String line() {
    return line(path, bytes, modified, sha256.orElse("-"), etag);
  }

  static Synced of(String line) {
    List<String> fields = fields(line, 5);
    long bytes = Long.parseLong(fields.get(1));
    Instant modified = Instant.parse(fields.get(2));
    return new Synced(fields.get(0), bytes, modified, optional(fields.get(3)), fields.get(4));
  }

  /** Returns a field; empty for "-". */
  static Optional<String> optional(String field) {
    return Optional.of(field).filter(text -> !text.equals("-"));
  }

  /** Returns a line of fields with tabs between them. A path can hold every character but NUL. */
  static String line(Object... fields) {
    return Stream.of(fields).map(Synced::escaped).collect(Collectors.joining("\t"));
  }

  private static String escaped(Object field) {
    return field
        .toString()
        .replace("\\", "\\\\")
        .replace("\t", "\\t")
        .replace("\n", "\\n")
        .replace("\r", "\\r");
  }

  /**
   * Returns the fields of a line.
   *
   * @throws IllegalArgumentException if the line has another number of fields
   */
  static List<String> fields(String line, int count) {
    List<String> fields = Stream.of(line.split("\t", -1)).map(String::translateEscapes).toList();
    if (fields.size() != count) {
      throw new IllegalArgumentException("expected " + count + " fields: " + line);
    }
    return fields;
  }
}
