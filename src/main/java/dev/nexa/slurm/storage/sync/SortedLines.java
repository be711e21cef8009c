package dev.nexa.slurm.storage.sync;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Records of {@link Synced} in the order of their paths, from files that need not fit into memory.
 * Of several records of a path, the last one counts.
 */
final class SortedLines implements Iterator<Synced>, Closeable {
  private static final int CHUNK = 50_000;

  /**
   * An open file, sorted by path. A higher age overrides a lower one. Leaves out lines that a crash
   * or a disk has damaged: their files are compared again.
   */
  private static final class Source {
    private final BufferedReader reader;
    private final int age;
    private Synced head;

    private Source(BufferedReader reader, int age, Synced head) {
      this.reader = reader;
      this.age = age;
      this.head = head;
    }

    /** Returns the next line whose path comes after the path before. */
    static Optional<Synced> next(BufferedReader reader, String before) throws IOException {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        Optional<Synced> record = record(line);
        if (record.isPresent() && KeyOrder.KEYS.compare(before, record.get().path()) < 0) {
          return record;
        }
      }
      return Optional.empty();
    }
  }

  private static Optional<Synced> record(String line) {
    try {
      return Optional.of(Synced.of(line));
    } catch (IllegalArgumentException | java.time.DateTimeException damaged) {
      return Optional.empty();
    }
  }

  /** Opens a file whose damaged bytes become replacement characters. */
  private static BufferedReader reader(Path file) throws IOException {
    return new BufferedReader(
        new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8));
  }

  private final PriorityQueue<Source> sources =
      new PriorityQueue<>(
          Comparator.comparing((Source source) -> source.head.path(), KeyOrder.KEYS)
              .thenComparing(source -> -source.age));
  private final List<Path> chunks = new ArrayList<>();
  private final List<Closeable> open = new ArrayList<>();
  private @Nullable Synced next;

  /**
   * Opens the records.
   *
   * @param sorted a file that is in order; may be missing
   * @param log a file in the order of time, whose records override those of {@code sorted}; may be
   *     missing, and its last line may be cut
   * @param folder for temporary files, which {@link #close} removes
   */
  SortedLines(Path sorted, Path log, Path folder) throws IOException {
    add(sorted, 0);
    if (Files.exists(log)) {
      split(log, folder);
    }
    advance();
  }

  private void split(Path log, Path folder) throws IOException {
    List<Synced> chunk = new ArrayList<>();
    try (BufferedReader reader = reader(log)) {
      boolean torn = !endsWithLine(log);
      String line = reader.readLine();
      while (line != null) {
        String following = reader.readLine();
        if (following != null || !torn) {
          record(line).ifPresent(chunk::add);
        }
        if (chunk.size() == CHUNK) {
          write(chunk, folder);
        }
        line = following;
      }
    }
    write(chunk, folder);
  }

  /** A crash can cut the last line in a way that still looks like a record. */
  private static boolean endsWithLine(Path log) throws IOException {
    try (FileChannel channel = FileChannel.open(log)) {
      ByteBuffer last = ByteBuffer.allocate(1);
      return channel.size() == 0
          || (channel.read(last, channel.size() - 1) == 1 && last.get(0) == '\n');
    }
  }

  private void write(List<Synced> chunk, Path folder) throws IOException {
    chunk.sort(Comparator.comparing(Synced::path, KeyOrder.KEYS));
    Path file = Files.createTempFile(folder, "sort-", ".tmp");
    chunks.add(file);
    try (Writer writer = Files.newBufferedWriter(file)) {
      for (int i = 0; i < chunk.size(); i++) {
        // The sort is stable: the last of equal paths is the newest.
        if (i + 1 == chunk.size() || !chunk.get(i).path().equals(chunk.get(i + 1).path())) {
          writer.write(chunk.get(i).line() + "\n");
        }
      }
    }
    chunk.clear();
    add(file, chunks.size());
  }

  private void add(Path file, int age) throws IOException {
    if (Files.exists(file)) {
      BufferedReader reader = reader(file);
      open.add(reader);
      Source.next(reader, "").ifPresent(first -> sources.add(new Source(reader, age, first)));
    }
  }

  @Override
  public boolean hasNext() {
    return next != null;
  }

  @Override
  public Synced next() {
    Synced record = next;
    if (record == null) {
      throw new NoSuchElementException();
    }
    try {
      advance();
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
    return record;
  }

  private void advance() throws IOException {
    next = null;
    while (next == null && !sources.isEmpty()) {
      Synced newest = take();
      while (!sources.isEmpty() && sources.element().head.path().equals(newest.path())) {
        take();
      }
      next = newest.bytes() < 0 ? null : newest;
    }
  }

  private Synced take() throws IOException {
    Source source = sources.remove();
    Synced head = source.head;
    Optional<Synced> next = Source.next(source.reader, head.path());
    if (next.isPresent()) {
      source.head = next.get();
      sources.add(source);
    }
    return head;
  }

  @Override
  public void close() throws IOException {
    for (Closeable reader : open) {
      reader.close();
    }
    for (Path chunk : chunks) {
      Files.deleteIfExists(chunk);
    }
  }
}
