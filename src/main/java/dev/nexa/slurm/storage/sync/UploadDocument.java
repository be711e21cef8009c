package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.storage.sync.ObjectStore.Content;
import dev.nexa.slurm.storage.sync.ObjectStore.Properties;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import java.io.ByteArrayInputStream;
import java.time.Instant;
import java.util.Optional;

/** Uploads a document that is in memory, over the version of it that is there. */
public final class UploadDocument {
  private UploadDocument() {}

  /**
   * Uploads a document with one request. A busy store is asked again.
   *
   * @param name its key without the prefix
   * @throws StoreException of kind CHANGED if somebody else replaces it in the same moment
   */
  public static void send(S3Place place, ObjectStore store, String name, byte[] content) {
    String key = place.prefix() + name;
    Digests digests = new Digests();
    digests.update(content, 0, content.length);
    Properties properties = new Properties(Sha256.of(content), Instant.now());
    String md5 = digests.md5Base64();
    Content bytes = () -> new ByteArrayInputStream(content);
    Optional<String> there = Retry.USUAL.call(() -> store.head(key)).map(Stored::etag);
    Retry.USUAL.call(() -> store.put(key, bytes, content.length, md5, properties, there));
  }
}
