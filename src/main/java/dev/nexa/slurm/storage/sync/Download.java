package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.sync.ObjectStore.Body;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/**
 * Downloads one object: to a temporary file, checked, forced to disk, then renamed.
 *
 * <p>Bytes are only appended to the temporary file, so its size says how far a killed download was.
 * The file beside it names the version. The digest at the end covers all bytes, also the bytes from
 * before a crash.
 *
 * @param ranges how many ranges of one object are fetched ahead at once
 * @param buffers a permit for each range in memory, of all objects together
 */
record Download(Sides sides, Path parts, ExecutorService threads, int ranges, Semaphore buffers) {
  private static final int BUFFER = 1 << 17;
  private static final int ATTEMPTS = 3;

  /**
   * Makes a download for all objects of a sync.
   *
   * @param parts the folder of unfinished files
   * @param threads read ahead in large objects
   * @param ranges how many ranges of one object they read ahead
   */
  Download(Sides sides, Path parts, ExecutorService threads, int ranges) {
    this(sides, parts, threads, ranges, ReadAhead.buffers());
  }

  /**
   * The result of a download.
   *
   * @param folders must be forced to disk before the file counts as there
   * @param checked false if the store knows no digest of the object
   */
  record Fetched(Synced synced, List<Path> folders, boolean checked) {}

  /**
   * Downloads an object.
   *
   * @param object as it was listed
   * @param replaced the file that it replaces; empty if there must be none
   * @throws StoreException of kind CHANGED if the object or the file changed
   */
  Fetched fetch(String path, Listed object, Optional<LocalFile> replaced) throws IOException {
    String key = sides.key(path);
    Path part = parts.resolve(Sha256.of(key).substring(0, 32) + ".part");
    Path state = part.resolveSibling(part.getFileName() + ".json");
    for (int attempt = 1; ; attempt++) {
      long there = resumable(part, state, key, object);
      if (there > 0 && !hasDigest(key)) {
        // A power cut can leave zeros at the end of the file, which no digest would find.
        Files.deleteIfExists(part);
        there = 0;
      }
      Optional<Whole> whole = whole(key, object, part, there);
      if (whole.isPresent()) {
        return placed(whole.get(), path, object, part, state, replaced);
      }
      Files.deleteIfExists(state);
      Files.deleteIfExists(part);
      if (attempt == ATTEMPTS) {
        throw StoreException.busy(
            "the bytes did not match the digest " + ATTEMPTS + " times; nothing was kept");
      }
    }
  }

  private boolean hasDigest(String key) throws IOException {
    Optional<Stored> stored = sides.retry().call(() -> sides.store().head(key));
    return stored.filter(it -> it.sha256().isPresent() || it.md5().isPresent()).isPresent();
  }

  private Fetched placed(
      Whole whole, String path, Listed object, Path part, Path state, Optional<LocalFile> replaced)
      throws IOException {
    LocalTree.Placed placed = sides.tree().place(part, path, replaced);
    Files.deleteIfExists(state);
    LocalFile file = placed.file();
    Optional<String> sha256 = Optional.of(whole.sha256());
    Synced synced = new Synced(path, file.bytes(), file.modified(), sha256, object.etag());
    return new Fetched(synced, placed.folders(), whole.checked());
  }

  /** Returns how many bytes of this version are on disk; prepares the files. */
  private static long resumable(Path part, Path state, String key, Listed object)
      throws IOException {
    JsonObject version =
        JsonObject.ofVersion(1)
            .with("key", key)
            .with("etag", object.etag())
            .with("bytes", object.bytes());
    String begun = Json.pretty(version);
    // A file that was read-only has its permissions already, and is whole.
    if (object.bytes() > Upload.PART
        && Files.isWritable(part)
        && Files.exists(state)
        && Files.readString(state).equals(begun)
        && Files.size(part) <= object.bytes()) {
      return Files.size(part);
    }
    Files.deleteIfExists(state);
    Files.deleteIfExists(part);
    if (object.bytes() > Upload.PART) {
      DurableFiles.onDisk().replace(state, begun);
    }
    return 0;
  }

  /** A temporary file that holds all bytes and is on disk. */
  private record Whole(String sha256, boolean checked) {}

  /** Fills the temporary file. Returns empty if its bytes do not match the digest. */
  private Optional<Whole> whole(String key, Listed object, Path part, long there)
      throws IOException {
    Digests digests = new Digests();
    Stored facts = null;
    try (FileChannel out =
            FileChannel.open(
                part,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        ReadAhead ahead = new ReadAhead(key, object)) {
      long offset = digested(out, there, digests);
      out.position(offset);
      int failures = 0;
      while (facts == null || offset < object.bytes()) {
        Optional<byte[]> fetched = ahead.take(offset);
        if (fetched.isPresent()) {
          byte[] bytes = fetched.get();
          append(bytes, bytes.length, out, digests);
          offset += bytes.length;
          ahead.begin(offset);
          continue;
        }
        boolean large = object.bytes() > 2 * Upload.PART;
        long end =
            !large
                ? ObjectStore.END
                : facts == null
                    ? Math.min(object.bytes(), offset + Upload.PART)
                    : ahead.begin(offset);
        long before = offset;
        StoreException failure;
        try (Body body =
            sides.store().get(key, object.etag(), Math.min(offset, last(object)), end)) {
          facts = body.facts();
          if (facts.sha256().isPresent()) {
            digests.withoutMd5();
          }
          if (large) {
            ahead.begin(offset);
          }
          offset = copied(body.in(), out, offset, Math.min(end, object.bytes()), digests);
          failure = StoreException.busy("the answer was cut short");
        } catch (Interrupted cut) {
          offset = cut.offset;
          failure = StoreException.busy("the connection was cut");
        } catch (StoreException refused) {
          if (refused.kind() != StoreException.Kind.BUSY) {
            throw refused;
          }
          failure = refused;
        }
        failures = offset > before ? 0 : failures + 1;
        if (offset < Math.min(end, object.bytes())) {
          if (failures >= sides.retry().attempts()) {
            throw failure;
          }
          sides.retry().pause(failures + 1);
        }
      }
      String hex = digests.sha256();
      Optional<String> md5 = facts.md5();
      boolean same =
          offset == object.bytes()
              && facts
                  .sha256()
                  .map(hex::equals)
                  .or(() -> md5.map(digests.md5Hex()::equals))
                  .orElse(true);
      if (!same) {
        return Optional.empty();
      }
      if (facts.fileTime().isPresent()) {
        Files.setLastModifiedTime(part, FileTime.from(facts.fileTime().get()));
      }
      if (facts.mode().isPresent()) {
        // If the umask lets a user read the file, the stored mode may let that user execute it.
        int usual = (Integer) Files.getAttribute(part, "unix:mode") & 0777;
        int mode = Integer.parseInt(facts.mode().get(), 8) & (usual | ((usual & 0444) >> 2));
        if (mode != usual) {
          Files.setAttribute(part, "unix:mode", mode);
        }
      }
      out.force(true);
      return Optional.of(new Whole(hex, facts.sha256().isPresent() || facts.md5().isPresent()));
    }
  }

  /** The offset to ask for if all bytes are there: the last byte's, only to learn the digest. */
  private static long last(Listed object) {
    return Math.max(0, object.bytes() - 1);
  }

  private static long digested(FileChannel file, long bytes, Digests digests) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(BUFFER, bytes));
    long offset = 0;
    while (offset < bytes) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), bytes - offset));
      int read = file.read(buffer, offset);
      if (read < 0) {
        break;
      }
      digests.update(buffer.array(), 0, read);
      offset += read;
    }
    return offset;
  }

  /** The connection broke; the bytes before it are kept. */
  private static final class Interrupted extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final long offset;

    Interrupted(long offset) {
      this.offset = offset;
    }
  }

  private long copied(InputStream in, FileChannel out, long from, long end, Digests digests)
      throws IOException {
    byte[] buffer = new byte[(int) Math.max(1, Math.min(BUFFER, end - from))];
    long offset = from;
    while (offset < end) {
      int read;
      try {
        read = in.read(buffer, 0, (int) Math.min(buffer.length, end - offset));
      } catch (IOException | StoreException cut) {
        throw new Interrupted(offset);
      }
      if (read < 0) {
        break;
      }
      append(buffer, read, out, digests);
      offset += read;
      sides.traffic().moved(read);
    }
    return offset;
  }

  /** Adds bytes to a file and its digests, in pieces that stay in the CPU's cache. */
  private static void append(byte[] bytes, int length, FileChannel out, Digests digests)
      throws IOException {
    for (int at = 0; at < length; at += BUFFER) {
      int piece = Math.min(BUFFER, length - at);
      digests.update(bytes, at, piece);
      ByteBuffer left = ByteBuffer.wrap(bytes, at, piece);
      while (left.hasRemaining()) {
        out.write(left);
      }
    }
  }

  /**
   * Fetches the next ranges of one large object into memory, while the caller still writes the
   * ranges before them. So one object comes over several connections. The caller fetches the ranges
   * that cannot be fetched ahead. Not for several threads.
   */
  final class ReadAhead implements Closeable {
    /** The caller itself reads one more range. */
    private static final int MOST_RANGES = Upload.AT_ONCE - 1;

    private final String key;
    private final Listed object;
    private final TreeMap<Long, Future<byte[]>> coming = new TreeMap<>();

    /** Makes a reader for one object. */
    ReadAhead(String key, Listed object) {
      this.key = key;
      this.object = object;
    }

    /** Returns how many ranges of one object a sync with this many threads fetches ahead. */
    static int ranges(int threads) {
      return Math.min(MOST_RANGES, threads - 1);
    }

    /** Returns a semaphore whose ranges take a quarter of the heap at most. */
    static Semaphore buffers() {
      return new Semaphore((int) (Runtime.getRuntime().maxMemory() / 4 / Upload.PART));
    }

    /**
     * Begins to fetch the ranges after the bytes that the caller itself is about to read.
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

    /**
     * Waits for the ranges that the caller did not take. After that no thread works for an object
     * that failed.
     */
    @Override
    public void close() {
      while (!coming.isEmpty()) {
        take(coming.firstKey());
      }
    }
  }
}
