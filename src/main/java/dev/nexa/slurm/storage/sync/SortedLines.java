package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.LookAhead;
import dev.nexa.slurm.base.files.NamesOfFiles;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Records of {@link Synced} in the order of their paths. If a path has several records, the last
 * record counts. Lines that a crash or a disk has damaged are left out: their files are compared
 * again.
 */
final class SortedLines extends LookAhead<Synced> implements Closeable {
  private final TreeMap<String, Synced> recent = new TreeMap<>(NamesOfFiles.ORDER);
  private final BufferedReader sorted;

  /** The next record of the sorted file. */
  private @Nullable Synced old;

  /**
   * Opens the records.
   *
   * @param sorted a file that is in order, and need not fit into memory; may be missing
   * @param log a file in the order of time; its records override the records of {@code sorted}; may
   *     be missing, and its last line may be cut
   */
  SortedLines(Path sorted, Path log) throws IOException {
    if (Files.exists(log)) {
      read(log);
    }
    this.sorted = Files.exists(sorted) ? reader(sorted) : new BufferedReader(Reader.nullReader());
    old = after("");
  }

  private void read(Path log) throws IOException {
    boolean torn = !endsWithLine(log);
    try (BufferedReader reader = reader(log)) {
      String line = reader.readLine();
      while (line != null) {
        String following = reader.readLine();
        if (following != null || !torn) {
          record(line).ifPresent(record -> recent.put(record.path(), record));
        }
        line = following;
      }
    }
  }

  /** A crash can cut the last line in a way that still looks like a record. */
  private static boolean endsWithLine(Path log) throws IOException {
    try (FileChannel channel = FileChannel.open(log)) {
      ByteBuffer last = ByteBuffer.allocate(1);
      return channel.size() == 0
          || (channel.read(last, channel.size() - 1) == 1 && last.get(0) == '\n');
    }
  }

  private static Optional<Synced> record(String line) {
    try {
      return Optional.of(Synced.of(line));
    } catch (IllegalArgumentException | DateTimeException damaged) {
      return Optional.empty();
    }
  }

  /** Opens a file whose damaged bytes become replacement characters. */
  private static BufferedReader reader(Path file) throws IOException {
    return new BufferedReader(
        new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8));
  }

  /** Returns the next record of the sorted file whose path comes after the path before. */
  private @Nullable Synced after(String before) throws IOException {
    for (String line = sorted.readLine(); line != null; line = sorted.readLine()) {
      Optional<Synced> record = record(line);
      if (record.isPresent() && NamesOfFiles.ORDER.compare(before, record.get().path()) < 0) {
        return record.get();
      }
    }
    return null;
  }

  @Override
  protected Optional<Synced> advance() {
    try {
      Synced record = take();
      while (record != null && record.isRemoved()) {
        record = take();
      }
      return Optional.ofNullable(record);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private @Nullable Synced take() throws IOException {
    Synced known = old;
    int order =
        recent.isEmpty()
            ? -1
            : known == null ? 1 : NamesOfFiles.ORDER.compare(known.path(), recent.firstKey());
    if (known != null && order <= 0) {
      old = after(known.path());
    }
    return order < 0 ? known : recent.pollFirstEntry().getValue();
  }

  @Override
  public void close() throws IOException {
    sorted.close();
  }
}
