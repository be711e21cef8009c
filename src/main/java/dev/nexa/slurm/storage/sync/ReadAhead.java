package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.storage.sync.ObjectStore.Body;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/**
 * Fetches the next ranges of one large object into memory while the caller still writes the ranges
 * before them, so that one object comes over several connections. What cannot be fetched ahead is
 * left to the caller. Not for several threads.
 */
final class ReadAhead implements Closeable {
  /** The caller reads one more. */
  private static final int MOST_RANGES = Upload.AT_ONCE - 1;

  private final Sides sides;
  private final ExecutorService threads;
  private final Semaphore buffers;
  private final int ranges;
  private final String key;
  private final Listed object;
  private final TreeMap<Long, Future<byte[]>> coming = new TreeMap<>();

  /**
   * Makes a reader for one object.
   *
   * @param buffers a permit for each range in memory, of all objects together
   * @param ranges how many ranges are fetched ahead at once
   */
  ReadAhead(
      Sides sides,
      ExecutorService threads,
      Semaphore buffers,
      int ranges,
      String key,
      Listed object) {
    this.sides = sides;
    this.threads = threads;
    this.buffers = buffers;
    this.ranges = ranges;
    this.key = key;
    this.object = object;
  }

  /** Returns how many ranges a sync with so many threads fetches ahead in one object. */
  static int ranges(int threads) {
    return Math.min(MOST_RANGES, threads - 1);
  }

  /** Returns a semaphore whose ranges take a quarter of the heap at most. */
  static Semaphore buffers() {
    return new Semaphore((int) (Runtime.getRuntime().maxMemory() / 4 / Upload.PART));
  }

  /**
   * Begins to fetch what follows the bytes that the caller is about to read itself.
   *
   * @param offset where the caller reads
   * @return the end of the range that is left to the caller
   */
  long begin(long offset) {
    Long known = coming.ceilingKey(offset);
    long end = known != null ? known : Math.min(object.bytes(), offset + Upload.PART);
    long next = coming.isEmpty() ? end : coming.lastKey() + Upload.PART;
    while (coming.size() < ranges && next < object.bytes() && buffers.tryAcquire()) {
      long from = next;
      coming.put(from, threads.submit(() -> range(from)));
      next += Upload.PART;
    }
    return end;
  }

  /** Returns the bytes from an offset on, if they were fetched ahead. */
  Optional<byte[]> take(long offset) {
    Future<byte[]> fetched = coming.remove(offset);
    if (fetched == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(fetched.get());
    } catch (ExecutionException failed) {
      // The caller fetches them itself, and finds the reason.
      return Optional.empty();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    } finally {
      buffers.release();
    }
  }

  private byte[] range(long from) throws IOException {
    long end = Math.min(object.bytes(), from + Upload.PART);
    byte[] bytes = new byte[(int) (end - from)];
    try (Body body = sides.store().get(key, object.etag(), from, end)) {
      if (sides.traffic().counted(body.in()).readNBytes(bytes, 0, bytes.length) < bytes.length) {
        throw new IOException("the answer was cut short");
      }
    }
    return bytes;
  }

  /** Waits for the ranges that nobody takes, so that no thread works for an object that failed. */
  @Override
  public void close() {
    while (!coming.isEmpty()) {
      take(coming.firstKey());
    }
  }
}
