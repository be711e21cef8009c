package dev.nexa.slurm.storage.sync;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Records of {@link Synced} in the order of their paths, from files that need not fit into memory.
 * Of several records of a path, the last one counts.
 */
final class SortedLines implements Iterator<Synced>, Closeable {
  private static final int CHUNK = 50_000;

  /** An open file, sorted by path. A higher age overrides a lower one. */
  private static final class Source {
    private final BufferedReader reader;
    private final int age;
    private Synced head;

    private Source(BufferedReader reader, int age, Synced head) {
      this.reader = reader;
      this.age = age;
      this.head = head;
    }
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
    try (BufferedReader reader = Files.newBufferedReader(log)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        try {
          chunk.add(Synced.of(line));
        } catch (IllegalArgumentException | java.time.DateTimeException torn) {
          // A crash cut the line: its file is compared again.
          continue;
        }
        if (chunk.size() == CHUNK) {
          write(chunk, folder);
        }
      }
    }
    write(chunk, folder);
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
      BufferedReader reader = Files.newBufferedReader(file);
      open.add(reader);
      String line = reader.readLine();
      if (line != null) {
        sources.add(new Source(reader, age, Synced.of(line)));
      }
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
    String line = source.reader.readLine();
    if (line != null) {
      source.head = Synced.of(line);
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
