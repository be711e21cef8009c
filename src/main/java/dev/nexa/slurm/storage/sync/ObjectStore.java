package dev.nexa.slurm.storage.sync;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The objects of one bucket.
 *
 * <p>Every method can throw a {@link StoreException}, or a {@code NexaException} if no later
 * request can succeed either: no credentials, no such bucket, no access.
 */
public interface ObjectStore extends AutoCloseable {
  /**
   * An object in a listing.
   *
   * @param etag the version's mark, without quotes
   */
  record Listed(String key, long bytes, String etag, Instant modified) {}

  /** The end of every object. */
  long END = Long.MAX_VALUE;

  /** A page of a listing; {@code next} is empty on the last page. */
  record Page<T>(List<T> entries, Optional<String> next) {}

  /**
   * The facts about a stored object.
   *
   * @param sha256 the digest of its bytes, if we uploaded it
   * @param md5 the MD5 of its bytes, if its version mark is that digest; empty for objects in parts
   *     and for KMS keys
   * @param fileTime the time of the file that we uploaded
   * @param mode its permissions, in octal digits
   */
  record Stored(
      long bytes,
      String etag,
      Instant modified,
      Optional<String> sha256,
      Optional<String> md5,
      Optional<Instant> fileTime,
      Optional<String> mode) {}

  /** An object's bytes from an offset on. Closing it early drops the connection. */
  record Body(Stored facts, InputStream in) implements Closeable {
    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /**
   * The properties that an upload stores beside the bytes.
   *
   * @param mode the file's permissions, in octal digits; empty if the bytes are of no file
   */
  record Properties(String sha256, Instant fileTime, Optional<String> mode) {
    Properties(String sha256, Instant fileTime) {
      this(sha256, fileTime, Optional.empty());
    }
  }

  /** A part that the store has. */
  record Part(int number, long bytes, String etag) {}

  /** A multipart upload that is not completed yet. */
  record Pending(String key, String uploadId, Instant started) {}

  /** Bytes that can be read several times, because a request may be sent again. */
  @FunctionalInterface
  interface Content {
    /** Opens the bytes from their beginning. */
    InputStream open() throws IOException;
  }

  /**
   * Lists up to 1000 objects whose keys begin with the prefix, by the bytes of their UTF-8.
   *
   * @param after empty for the first page, else {@code next} of the page before
   */
  Page<Listed> list(String prefix, Optional<String> after);

  /** Returns the facts about an object; empty if there is none. */
  Optional<Stored> head(String key);

  /**
   * Opens an object, if it is still this version.
   *
   * @param from the offset of the first byte
   * @param end the offset after the last byte; {@link #END} for all
   * @throws StoreException of kind CHANGED for another version, MISSING if there is no object
   */
  Body get(String key, String etag, long from, long end);

  /**
   * Uploads an object as a whole.
   *
   * @param md5 the digest in Base64, which the store checks
   * @param replaced the version that it replaces; empty if there must be none
   * @return the new version
   * @throws StoreException of kind CHANGED if there is another version
   */
  String put(
      String key,
      Content content,
      long bytes,
      String md5,
      Properties properties,
      Optional<String> replaced);

  /** Begins a multipart upload and returns its id. */
  String begin(String key, Properties properties);

  /**
   * Uploads a part.
   *
   * @param number from 1
   */
  Part send(String key, String uploadId, int number, Content content, long bytes, String md5);

  /**
   * Returns the parts that the store has.
   *
   * @throws StoreException of kind MISSING if there is no such upload
   */
  List<Part> parts(String key, String uploadId);

  /**
   * Makes the object from its parts. A store that does not know If-Match for this replaces every
   * version.
   *
   * @param replaced the version that it replaces; empty if there must be none
   * @return the new version
   */
  String complete(String key, String uploadId, List<Part> parts, Optional<String> replaced);

  /** Gives up a multipart upload. Does nothing if there is none. */
  void abort(String key, String uploadId);

  /** Lists multipart uploads whose keys begin with the prefix. */
  Page<Pending> pending(String prefix, Optional<String> after);

  /**
   * Deletes an object, if it is still this version. Does nothing if there is none. A store that
   * does not know If-Match for deletions deletes every version.
   */
  void delete(String key, String etag);

  @Override
  void close();
}
