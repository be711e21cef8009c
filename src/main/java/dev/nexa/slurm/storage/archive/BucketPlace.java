package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.storage.sync.ObjectStore;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.sync.StoreException;
import dev.nexa.slurm.storage.sync.Upload;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A prefix of a bucket. A bundle is written to the durable tier first, checked there, and uploaded:
 * an object in a cold storage class cannot be read back. Both stores are the same bucket, and are
 * closed with this place.
 *
 * @param store writes with the storage class of the bundles
 * @param documents writes with the bucket's default class, so that documents can be read at once
 */
public record BucketPlace(S3Place place, ObjectStore store, ObjectStore documents)
    implements ArchivePlace {
  /** `sync` leaves out folders with such a name. */
  private static final String STAGING = ".nexa-archive";

  private static final long LARGEST_DOCUMENT = 256L << 20;

  @Override
  public String address() {
    return place.address();
  }

  @Override
  public Optional<String> storageClass() {
    return place.store().storageClass();
  }

  @Override
  public Path staged(Path durable, String name) throws IOException {
    Path folder = Files.createDirectories(durable.resolve(STAGING).resolve(name));
    return folder.resolve(ArchiveFile.bundle(name));
  }

  private String key(String file) {
    return place.prefix() + file;
  }

  @Override
  public Optional<String> document(String name) throws IOException {
    String key = key(ArchiveFile.document(name));
    Optional<Stored> there = head(key);
    if (there.isEmpty()) {
      return Optional.empty();
    }
    try (ObjectStore.Body body = read(key, there.get())) {
      byte[] bytes = body.in().readNBytes((int) Math.min(there.get().bytes(), LARGEST_DOCUMENT));
      return Optional.of(new String(bytes, StandardCharsets.UTF_8));
    }
  }

  private Optional<Stored> head(String key) {
    try {
      return store.head(key);
    } catch (StoreException refused) {
      throw failure(key, refused);
    }
  }

  private NexaException failure(String key, StoreException refused) {
    return new NexaException(
        refused.code(),
        "S3: s3://" + place.bucket() + "/" + key + ": " + refused.getMessage(),
        refused,
        Advice.step("nothing was removed; type the command again"));
  }

  private ObjectStore.Body read(String key, Stored there) {
    try {
      return store.get(key, there.etag(), 0, ObjectStore.END);
    } catch (StoreException refused) {
      if (refused.kind() != StoreException.Kind.ARCHIVED) {
        throw failure(key, refused);
      }
      String what =
          "S3: s3://%s/%s is in a cold storage class, and must be restored before it can be read";
      String restore =
          "aws s3api restore-object --bucket %s --key %s --restore-request"
              + " 'Days=7,GlacierJobParameters={Tier=Standard}'";
      throw ErrorCode.S3_REFUSED.error(
          what.formatted(place.bucket(), key),
          refused,
          Advice.step(restore.formatted(place.bucket(), key)),
          Advice.step("that takes hours; then type the command again"));
    }
  }

  @Override
  public void putDocument(String name, String text, Path staged) throws IOException {
    Path document = staged.resolveSibling(ArchiveFile.document(name));
    DurableFiles.onDisk().replace(document, text);
    Upload.file(place, documents, document, Optional.empty(), (files, bytes) -> {});
  }

  @Override
  public void putBundle(ArchiveFile archive, Path staged, Running sending) throws IOException {
    Optional<Stored> there = head(key(ArchiveFile.bundle(archive.name())));
    Upload.file(place, store, staged, there.map(Stored::etag), sending);
    Optional<String> difference = difference(archive);
    if (difference.isPresent()) {
      throw ErrorCode.ARCHIVE_DAMAGED.error(
          "the archive " + archive.where() + " is damaged: " + difference.get(),
          "nothing was removed; type the command again");
    }
    removeStaged(staged.resolveSibling(""), archive.name());
  }

  /** Removes what was uploaded. A file of an upload that broke stays for the next call. */
  private static void removeStaged(Path folder, String name) throws IOException {
    Files.deleteIfExists(folder.resolve(ArchiveFile.bundle(name)));
    Files.deleteIfExists(folder.resolve(ArchiveFile.document(name)));
    DurableFiles.onDisk().removeEmpty(folder.resolve(".nexa-uploads"));
    if (DurableFiles.onDisk().removeEmpty(folder)) {
      DurableFiles.onDisk().removeEmpty(folder.resolveSibling(""));
    }
  }

  @Override
  public boolean has(ArchiveFile archive) {
    return head(key(ArchiveFile.bundle(archive.name()))).isPresent();
  }

  @Override
  public Optional<String> difference(ArchiveFile archive) {
    Optional<Stored> there = head(key(ArchiveFile.bundle(archive.name())));
    if (there.isEmpty()) {
      return Optional.of("it is missing");
    }
    if (there.get().bytes() != archive.bundle().bytes()) {
      return Optional.of(
          "it has " + there.get().bytes() + " bytes, not " + archive.bundle().bytes());
    }
    return there.get().sha256().equals(Optional.of(archive.bundle().sha256()))
        ? Optional.empty()
        : Optional.of("S3 keeps another SHA-256 of it, or none");
  }

  @Override
  public boolean knowsDigests() {
    return true;
  }

  @Override
  public InputStream open(ArchiveFile archive) {
    String key = key(ArchiveFile.bundle(archive.name()));
    Stored there =
        head(key)
            .orElseThrow(
                () ->
                    ErrorCode.ARCHIVE_DAMAGED.error(
                        "the archive of %s is damaged: there is no object %s"
                            .formatted(archive.run(), archive.where()),
                        "bring the bundle back from a copy, or a version of the bucket"));
    return read(key, there).in();
  }

  @Override
  public void close() {
    store.close();
    documents.close();
  }
}
