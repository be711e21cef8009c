package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.storage.sync.ObjectStore.Content;
import dev.nexa.slurm.storage.sync.ObjectStore.Part;
import dev.nexa.slurm.storage.sync.ObjectStore.Properties;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorCompletionService;
import java.util.function.Supplier;

/**
 * Uploads one file: a small file in one request, a larger file in parts, several parts at once.
 *
 * <p>The store checks the MD5 of each request against the bytes that we digested. So a file that
 * changes in between causes an error and makes no object. An upload in parts has a file in {@code
 * uploads/}. After a crash the next sync asks the store for the parts that it has, and sends the
 * other parts.
 *
 * @param uploads the folder that remembers unfinished uploads
 * @param threads send the parts of large files
 */
public record Upload(Sides sides, Path uploads, Executor threads) {
  /** A file of this many bytes or more is sent in parts, and each part has this many. */
  static final long PART = 8L << 20;

  /** How many parts of one file are sent at once. A kill costs no more than these. */
  static final int AT_ONCE = 4;

  private static final int MOST_PARTS = 9_000;

  /** Larger files are read twice, for the digest and for the request, and held in no memory. */
  private static final int IN_MEMORY = 1 << 18;

  /** The HTTP client reads 4 KiB at a time. */
  private static final int BUFFER = 1 << 17;

  /**
   * Uploads a file.
   *
   * @param replaced the version of the object that it replaces; empty if there must be none
   * @return the record of both sides, which are equal now
   * @throws StoreException of kind CHANGED if the file or the object changed
   */
  Synced send(String path, Optional<String> replaced) throws IOException {
    Instant begun = Instant.now();
    LocalTree.Found found =
        sides.tree().look(path).orElseThrow(() -> StoreException.changed("the file is gone"));
    LocalFile file = found.file();
    Optional<String> mode = Optional.of(found.mode());
    String key = sides.key(path);
    Sent sent =
        file.bytes() <= PART
            ? whole(key, file, mode, replaced)
            : inParts(key, file, mode, replaced);
    return Synced.of(file, begun, sent.sha256(), sent.etag());
  }

  /**
   * Uploads a single file with the guarantees of a sync: checked, never over a version that was not
   * expected, and resumed after a crash.
   *
   * @param place the prefix of the object's key, which ends with the file's name
   * @param file beside it is the folder {@code .nexa-uploads}, with the records of broken uploads
   * @param replaced the version of the object that it replaces; empty if there must be none
   * @param sending gets the bytes that were sent
   * @throws StoreException of kind CHANGED if the file or the object changed
   */
  public static void file(
      S3Place place, ObjectStore store, Path file, Optional<String> replaced, Running sending)
      throws IOException {
    Path folder = file.resolveSibling("");
    Path uploads = Files.createDirectories(folder.resolve(".nexa-uploads"));
    Traffic traffic = new Traffic(0);
    traffic.report(sending);
    Sides sides = new Sides(new LocalTree(folder), place, store, Retry.USUAL, traffic);
    new Upload(sides, uploads, Runnable::run).send(file.getFileName().toString(), replaced);
  }

  /**
   * Uploads a document that is in memory, with one request. It replaces the version in the store.
   *
   * @param name its key without the prefix
   * @throws StoreException of kind CHANGED if another request replaces it in the same moment
   */
  public static void document(S3Place place, ObjectStore store, String name, byte[] content) {
    String key = place.prefix() + name;
    Digests digests = new Digests();
    digests.update(content, 0, content.length);
    Properties properties = new Properties(Sha256.of(content), Instant.now());
    String md5 = digests.md5Base64();
    Content bytes = () -> new ByteArrayInputStream(content);
    Optional<String> there = Retry.USUAL.call(() -> store.head(key)).map(Stored::etag);
    Retry.USUAL.call(() -> store.put(key, bytes, content.length, md5, properties, there));
  }

  /** The digest of the bytes that were sent, and the object's new version. */
  private record Sent(String sha256, String etag) {}

  private Sent whole(String key, LocalFile file, Optional<String> mode, Optional<String> replaced)
      throws IOException {
    Content content = () -> range(file.path(), 0, file.bytes());
    if (file.bytes() <= IN_MEMORY) {
      byte[] bytes = new byte[(int) file.bytes()];
      try (InputStream in = Channels.newInputStream(sides.tree().read(file.path()))) {
        if (in.readNBytes(bytes, 0, bytes.length) < bytes.length || in.read() >= 0) {
          throw StoreException.changed("the file changed while it was read");
        }
      }
      content = () -> new ByteArrayInputStream(bytes);
    }
    PartDigests digests = digests(file, content, PART);
    Content sent = content;
    String md5 = digests.md5().get(0);
    Properties properties = new Properties(digests.sha256(), file.modified(), mode);
    sides.traffic().await(file.bytes());
    Supplier<String> put =
        () -> sides.store().put(key, sent, file.bytes(), md5, properties, replaced);
    String etag = settled(key, file, digests.sha256(), put, () -> {});
    sides.traffic().done(file.bytes());
    return new Sent(digests.sha256(), etag);
  }

  private Sent inParts(String key, LocalFile file, Optional<String> mode, Optional<String> replaced)
      throws IOException {
    long partBytes = partBytes(file.bytes());
    PartDigests digests = digests(file, () -> range(file.path(), 0, file.bytes()), partBytes);
    Path state = uploads.resolve(Sha256.of(key).substring(0, 32) + ".json");
    Optional<String> begun = begun(state, key, file, digests, partBytes);
    Optional<Map<Integer, Part>> found =
        begun.isPresent() ? there(key, begun.get()) : Optional.empty();
    Map<Integer, Part> there = found.orElse(Map.of());
    String uploadId =
        found.isPresent() ? begun.orElseThrow() : begin(state, key, file, mode, digests, partBytes);
    List<Callable<Part>> missing = new ArrayList<>();
    List<Part> parts = new ArrayList<>();
    for (int i = 1; i <= digests.md5().size(); i++) {
      int number = i;
      long offset = (number - 1) * partBytes;
      long bytes = Math.min(partBytes, file.bytes() - offset);
      String md5 = digests.md5().get(number - 1);
      Part known = there.get(number);
      // The upload's id and the SHA-256 of the file prove the bytes. With a KMS key no mark does.
      if (known != null && known.bytes() == bytes) {
        parts.add(known);
      } else {
        missing.add(() -> send(key, uploadId, number, file, offset, bytes, md5));
      }
    }
    parts.addAll(sent(missing));
    parts.sort(Comparator.comparing(Part::number));
    sides.tree().requireUnchanged(file);
    String etag =
        settled(
            key,
            file,
            digests.sha256(),
            () -> {
              // Not every store knows If-Match here: Ceph replaces whatever is there.
              if (!sides.store().head(key).map(Stored::etag).equals(replaced)) {
                throw StoreException.changed("the object in S3 changed since the plan was made");
              }
              return sides.store().complete(key, uploadId, parts, replaced);
            },
            () -> sides.store().abort(key, uploadId));
    Files.deleteIfExists(state);
    return new Sent(digests.sha256(), etag);
  }

  /** Sends parts, a few at once. After a failure no further part begins. */
  private List<Part> sent(List<Callable<Part>> missing) throws IOException {
    CompletionService<Part> sending = new ExecutorCompletionService<>(threads);
    List<Part> sent = new ArrayList<>();
    Throwable failure = null;
    int begun = 0;
    for (int ended = 0; ended < begun || (begun < missing.size() && failure == null); ) {
      if (failure == null && begun < missing.size() && begun - ended < AT_ONCE) {
        sending.submit(missing.get(begun++));
        continue;
      }
      try {
        sent.add(sending.take().get());
      } catch (ExecutionException failed) {
        failure = failure == null ? failed.getCause() : failure;
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", interrupted);
      }
      ended++;
    }
    if (failure instanceof IOException failed) {
      throw failed;
    }
    if (failure != null) {
      throw failure instanceof RuntimeException failed
          ? failed
          : new IllegalStateException(failure);
    }
    return sent;
  }

  private String begin(
      Path state,
      String key,
      LocalFile file,
      Optional<String> mode,
      PartDigests digests,
      long partBytes)
      throws IOException {
    Properties properties = new Properties(digests.sha256(), file.modified(), mode);
    String uploadId = sides.retry().call(() -> sides.store().begin(key, properties));
    JsonObject begun =
        JsonObject.ofVersion(1)
            .with("key", key)
            .with("upload_id", uploadId)
            .with("sha256", digests.sha256())
            .with("bytes", file.bytes())
            .with("part_bytes", partBytes);
    DurableFiles.onDisk().replace(state, Json.pretty(begun));
    return uploadId;
  }

  /**
   * Returns the id of an upload of the same bytes that was begun before. Aborts any other upload
   * that was begun.
   */
  private Optional<String> begun(
      Path state, String key, LocalFile file, PartDigests digests, long partBytes)
      throws IOException {
    if (!Files.exists(state)) {
      return Optional.empty();
    }
    try {
      JsonObject begun = Json.parseObject(Files.readString(state));
      String uploadId = begun.text("upload_id");
      if (begun.text("sha256").equals(digests.sha256())
          && begun.number("bytes") == file.bytes()
          && begun.number("part_bytes") == partBytes) {
        return Optional.of(uploadId);
      }
      sides.retry().run(() -> sides.store().abort(key, uploadId));
    } catch (NexaException | IllegalArgumentException | IllegalStateException unreadable) {
      // abort-leftovers finds the upload in the store.
    }
    Files.deleteIfExists(state);
    return Optional.empty();
  }

  /** Returns the parts that the store has; empty if it has no such upload. */
  private Optional<Map<Integer, Part>> there(String key, String uploadId) throws IOException {
    try {
      Map<Integer, Part> there = new HashMap<>();
      for (Part part : sides.retry().call(() -> sides.store().parts(key, uploadId))) {
        there.put(part.number(), part);
      }
      return Optional.of(there);
    } catch (StoreException gone) {
      if (gone.kind() == StoreException.Kind.MISSING) {
        return Optional.empty();
      }
      throw gone;
    }
  }

  private Part send(
      String key, String uploadId, int number, LocalFile file, long offset, long bytes, String md5)
      throws IOException {
    Content content = () -> range(file.path(), offset, bytes);
    sides.traffic().await(bytes);
    try {
      Part sent =
          sides.retry().call(() -> sides.store().send(key, uploadId, number, content, bytes, md5));
      sides.traffic().done(bytes);
      return sent;
    } catch (StoreException failed) {
      sides.tree().requireUnchanged(file);
      throw failed;
    }
  }

  /**
   * Sends the request that makes the object. If its answer got lost, a second request finds the
   * object that the first request made: it has our digest. The object of another push of the same
   * bytes has our digest, too; then our parts are not needed.
   */
  private String settled(
      String key, LocalFile file, String sha256, Supplier<String> request, Runnable abort)
      throws IOException {
    try {
      return sides.retry().call(request);
    } catch (StoreException failed) {
      Optional<Stored> there = sides.retry().call(() -> sides.store().head(key));
      boolean ours =
          there.isPresent()
              && there.get().bytes() == file.bytes()
              && there.get().sha256().equals(Optional.of(sha256));
      if (ours) {
        try {
          sides.retry().run(abort);
        } catch (StoreException stay) {
          // abort-leftovers finds the parts in the store.
        }
        return there.get().etag();
      }
      sides.tree().requireUnchanged(file);
      if (failed.kind() == StoreException.Kind.MISSING) {
        throw StoreException.changed(
            "somebody deleted the object or aborted the upload in S3 meanwhile");
      }
      throw failed.kind() == StoreException.Kind.CHANGED
          ? StoreException.changed("the object in S3 changed since the plan was made")
          : failed;
    }
  }

  /** The digest of a file, and of each part in Base64. */
  private record PartDigests(String sha256, List<String> md5) {}

  private PartDigests digests(LocalFile file, Content content, long partBytes) throws IOException {
    Digests digests = new Digests();
    List<String> parts = new ArrayList<>();
    long total = 0;
    try (InputStream in = content.open()) {
      do {
        long part = Math.min(partBytes, file.bytes() - total);
        if (digests.read(in, part) < part) {
          throw StoreException.changed("the file changed while it was read");
        }
        parts.add(digests.md5Base64());
        total += part;
      } while (total < file.bytes());
    } catch (EOFException shorter) {
      throw StoreException.changed("the file changed while it was read");
    }
    sides.tree().requireUnchanged(file);
    return new PartDigests(digests.sha256(), parts);
  }

  private InputStream range(String path, long offset, long bytes) throws IOException {
    SeekableByteChannel channel = sides.tree().read(path);
    channel.position(offset);
    InputStream in = Channels.newInputStream(channel);
    InputStream limited =
        new InputStream() {
          private long left = bytes;

          @Override
          public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
          }

          @Override
          public int read(byte[] buffer, int from, int length) throws IOException {
            if (left == 0) {
              return -1;
            }
            int read = in.read(buffer, from, (int) Math.min(length, left));
            if (read < 0) {
              throw new EOFException("the file became shorter");
            }
            left -= read;
            return read;
          }

          @Override
          public void close() throws IOException {
            in.close();
          }
        };
    return new BufferedInputStream(limited, (int) Math.max(1, Math.min(BUFFER, bytes)));
  }

  static long partBytes(long bytes) {
    long least = bytes / MOST_PARTS + 1;
    return Math.max(PART, (least + (1 << 20) - 1) >> 20 << 20);
  }
}
