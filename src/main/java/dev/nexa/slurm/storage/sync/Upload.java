package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.sync.ObjectStore.Content;
import dev.nexa.slurm.storage.sync.ObjectStore.Part;
import dev.nexa.slurm.storage.sync.ObjectStore.Properties;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Uploads one file: small ones in one request, larger ones in parts, one after the other.
 *
 * <p>The store checks the MD5 of each request against the bytes that we digested, so a file that
 * changes in between is an error and no object. An upload in parts has a file in {@code uploads/};
 * after a crash the next sync asks the store for the parts that it has, and sends the others.
 */
final class Upload {
  /** The size from which a file is sent in parts, and the size of a part. */
  static final long PART = 8L << 20;

  private static final int MOST_PARTS = 9_000;
  private static final int BUFFER = 1 << 17;

  private final LocalTree tree;
  private final ObjectStore store;
  private final Path uploads;
  private final Retry retry;
  private final Traffic traffic;

  Upload(LocalTree tree, ObjectStore store, Path uploads, Retry retry, Traffic traffic) {
    this.tree = tree;
    this.store = store;
    this.uploads = uploads;
    this.retry = retry;
    this.traffic = traffic;
  }

  /**
   * Uploads a file.
   *
   * @param replaced the version of the object that it replaces; empty if there must be none
   * @return what both sides have now
   * @throws StoreException of kind CHANGED if the file or the object changed
   */
  Synced send(String key, String path, Optional<String> replaced) throws IOException {
    LocalFile file = tree.stat(path).orElseThrow(() -> changed("the file is gone"));
    return file.bytes() <= PART ? whole(key, file, replaced) : inParts(key, file, replaced);
  }

  private Synced whole(String key, LocalFile file, Optional<String> replaced) throws IOException {
    byte[] bytes = new byte[(int) file.bytes()];
    try (InputStream in = Channels.newInputStream(tree.read(file.path()))) {
      if (in.readNBytes(bytes, 0, bytes.length) < bytes.length || in.read() >= 0) {
        throw changed("the file changed while it was read");
      }
    }
    requireUnchanged(file);
    String sha256 = Sha256.hex(digest(Sha256.digest(), bytes));
    String md5 = base64(digest(Md5.digest(), bytes));
    Properties properties = new Properties(sha256, file.modified());
    Content content = () -> new ByteArrayInputStream(bytes);
    traffic.await(bytes.length);
    String etag =
        settled(
            key,
            file,
            sha256,
            () -> store.put(key, content, bytes.length, md5, properties, replaced));
    traffic.done(bytes.length);
    return new Synced(file.path(), file.bytes(), file.modified(), Optional.of(sha256), etag);
  }

  private Synced inParts(String key, LocalFile file, Optional<String> replaced) throws IOException {
    long partBytes = partBytes(file.bytes());
    Digests digests = digests(file, partBytes);
    Path state = uploads.resolve(Sha256.of(key).substring(0, 32) + ".json");
    Optional<String> begun = begun(state, key, file, digests, partBytes);
    Optional<Map<Integer, Part>> found =
        begun.isPresent() ? there(key, begun.get()) : Optional.empty();
    Map<Integer, Part> there = found.orElse(Map.of());
    String uploadId =
        found.isPresent() ? begun.orElseThrow() : begin(state, key, file, digests, partBytes);
    List<Part> parts = new ArrayList<>();
    for (int number = 1; number <= digests.md5().size(); number++) {
      long offset = (number - 1) * partBytes;
      long bytes = Math.min(partBytes, file.bytes() - offset);
      String md5 = digests.md5().get(number - 1);
      Part known = there.get(number);
      if (known != null && known.bytes() == bytes && isMd5(known.etag(), md5)) {
        parts.add(known);
      } else {
        parts.add(send(key, uploadId, number, file, offset, bytes, md5));
      }
    }
    requireUnchanged(file);
    String etag =
        settled(key, file, digests.sha256(), () -> store.complete(key, uploadId, parts, replaced));
    Files.deleteIfExists(state);
    return new Synced(
        file.path(), file.bytes(), file.modified(), Optional.of(digests.sha256()), etag);
  }

  private String begin(Path state, String key, LocalFile file, Digests digests, long partBytes)
      throws IOException {
    Properties properties = new Properties(digests.sha256(), file.modified());
    String uploadId = retry.call(key, () -> store.begin(key, properties));
    JsonObject begun =
        new JsonObject()
            .with("schema_version", 1)
            .with("key", key)
            .with("upload_id", uploadId)
            .with("sha256", digests.sha256())
            .with("bytes", file.bytes())
            .with("part_bytes", partBytes);
    DurableFiles.onDisk().replace(state, Json.pretty(begun));
    return uploadId;
  }

  /** Returns the id of an upload of the same bytes that was begun before. Aborts an older one. */
  private Optional<String> begun(
      Path state, String key, LocalFile file, Digests digests, long partBytes) throws IOException {
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
      store.abort(key, uploadId);
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
      for (Part part : retry.call(key, () -> store.parts(key, uploadId))) {
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
    traffic.await(bytes);
    try {
      Part sent = retry.call(key, () -> store.send(key, uploadId, number, content, bytes, md5));
      traffic.done(bytes);
      return sent;
    } catch (StoreException failed) {
      requireUnchanged(file);
      throw failed;
    }
  }

  /**
   * Sends the request that makes the object. If its answer got lost, a second request finds the
   * object that the first one made: it has our digest.
   */
  private String settled(String key, LocalFile file, String sha256, Retry.Request<String> request)
      throws IOException {
    try {
      return retry.call(key, request);
    } catch (StoreException failed) {
      Optional<Stored> there = retry.call(key, () -> store.head(key));
      boolean ours =
          there.isPresent()
              && there.get().bytes() == file.bytes()
              && there.get().sha256().equals(Optional.of(sha256));
      if (ours) {
        return there.get().etag();
      }
      requireUnchanged(file);
      if (failed.kind() == StoreException.Kind.MISSING) {
        throw new StoreException(
            StoreException.Kind.BUSY, "the multipart upload was aborted by somebody");
      }
      throw failed.kind() == StoreException.Kind.CHANGED
          ? changed("the object in S3 changed since the plan was made")
          : failed;
    }
  }

  private void requireUnchanged(LocalFile file) throws IOException {
    if (!tree.stat(file.path()).equals(Optional.of(file))) {
      throw changed("the file changed while it was read");
    }
  }

  private static StoreException changed(String what) {
    return new StoreException(StoreException.Kind.CHANGED, what);
  }

  /** The digest of a file, and of each part in Base64. */
  private record Digests(String sha256, List<String> md5) {}

  private Digests digests(LocalFile file, long partBytes) throws IOException {
    MessageDigest sha256 = Sha256.digest();
    MessageDigest md5 = Md5.digest();
    List<String> parts = new ArrayList<>();
    byte[] buffer = new byte[BUFFER];
    long total = 0;
    try (InputStream in = Channels.newInputStream(tree.read(file.path()))) {
      while (total < file.bytes()) {
        long rest = partBytes - total % partBytes;
        int read = in.read(buffer, 0, (int) Math.min(buffer.length, rest));
        if (read < 0) {
          break;
        }
        sha256.update(buffer, 0, read);
        md5.update(buffer, 0, read);
        total += read;
        if (total % partBytes == 0 || total == file.bytes()) {
          parts.add(base64(md5));
        }
      }
    }
    if (total != file.bytes()) {
      throw changed("the file changed while it was read");
    }
    requireUnchanged(file);
    return new Digests(Sha256.hex(sha256), parts);
  }

  private InputStream range(String path, long offset, long bytes) throws IOException {
    SeekableByteChannel channel = tree.read(path);
    channel.position(offset);
    InputStream in = Channels.newInputStream(channel);
    return new InputStream() {
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
  }

  static long partBytes(long bytes) {
    long least = bytes / MOST_PARTS + 1;
    return Math.max(PART, (least + (1 << 20) - 1) >> 20 << 20);
  }

  /** Whether a part's mark is the MD5 of its bytes, as it is everywhere but with KMS keys. */
  private static boolean isMd5(String etag, String md5) {
    return !etag.matches("[0-9a-f]{32}")
        || etag.equals(HexFormat.of().formatHex(Base64.getDecoder().decode(md5)));
  }

  private static MessageDigest digest(MessageDigest digest, byte[] bytes) {
    digest.update(bytes);
    return digest;
  }

  private static String base64(MessageDigest digest) {
    return Base64.getEncoder().encodeToString(digest.digest());
  }
}
