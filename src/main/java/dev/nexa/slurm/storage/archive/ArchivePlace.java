package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.progress.Progress.Running;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where bundles and their documents are kept. A name is the run's name on its durable tier.
 *
 * <p>A document is put before its bundle, and never replaces one: it reserves the name for its run.
 */
public interface ArchivePlace extends AutoCloseable {
  /** Returns the folder or the address. */
  String address();

  /** Returns the storage class of new bundles; empty for a folder, or for the bucket's default. */
  Optional<String> storageClass();

  /**
   * Returns where a bundle is written before it is checked. The caller locked the archive.
   *
   * @param durable the run's durable tier
   */
  Path staged(Path durable, String name) throws IOException;

  /** Returns the document of a name; empty if there is none. */
  Optional<String> document(String name) throws IOException;

  /**
   * Puts a document, durably.
   *
   * @param staged the path that {@link #staged} returned
   * @throws dev.nexa.slurm.base.error.NexaException if there is one
   */
  void putDocument(String name, String text, Path staged) throws IOException;

  /**
   * Moves or uploads a bundle to its name, durably, and compares what is there then with the
   * digest. Replaces a bundle that has no document of its own.
   *
   * @param sending gets the bytes of an upload
   */
  void putBundle(ArchiveFile archive, Path staged, Running sending) throws IOException;

  /** Returns whether there is a bundle with the archive's name, whatever it holds. */
  boolean has(ArchiveFile archive) throws IOException;

  /**
   * Returns why the bundle is not the document's, as far as can be seen without reading it all;
   * empty if it is.
   */
  Optional<String> difference(ArchiveFile archive) throws IOException;

  /** Returns whether {@link #difference} compares digests, so that no bytes need to be read. */
  boolean knowsDigests();

  /**
   * Opens a bundle.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if it is not there, or not readable yet
   */
  InputStream open(ArchiveFile archive) throws IOException;

  @Override
  default void close() {
    // A folder has nothing open.
  }
}
