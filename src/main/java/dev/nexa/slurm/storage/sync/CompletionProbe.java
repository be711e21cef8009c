package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.storage.sync.ObjectStore.Part;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Finds out whether a store looks at If-Match when it completes an upload in parts. */
final class CompletionProbe {
  /** No object has this version. */
  private static final String NONE = "0".repeat(32);

  private static final byte[] CONTENT = {'1'};

  private CompletionProbe() {}

  /**
   * Asks a store, once for each address: tries to replace an object that does not exist. A store
   * that does not look at If-Match makes the object. The probe then deletes it at once.
   *
   * @param state remembers that the store looks; if it does not look, {@link #said} remembers that
   * @return a note about a store that does not look; empty if it looks, if it was asked before, or
   *     if the probe failed
   */
  static Optional<String> ask(Sides sides, SyncState state) {
    if (Files.exists(answer(state))) {
      return Optional.empty();
    }
    boolean looks;
    try {
      looks = looks(sides.store(), sides.key(".nexa-probe-" + UUID.randomUUID()));
    } catch (StoreException | NexaException unknown) {
      // The uploads of the files will report the store's error.
      return Optional.empty();
    }
    if (looks) {
      DurableFiles.onDisk().replace(answer(state), "looks\n");
      return Optional.empty();
    }
    return Optional.of(
        "the store of "
            + sides.place().address()
            + " does not look at If-Match when an upload in parts completes; sync asks for the"
            + " object's version right before, but of two pushes that complete the same file of"
            + " more than 8 MiB at the same moment, the later wins");
  }

  /** Remembers that the note was said: a push that was killed before says it again. */
  static void said(SyncState state) {
    DurableFiles.onDisk().replace(answer(state), "does not look\n");
  }

  private static Path answer(SyncState state) {
    return state.folder().resolve("completion");
  }

  private static boolean looks(ObjectStore store, String key) {
    Digests digests = new Digests();
    digests.update(CONTENT, 0, CONTENT.length);
    String id = store.begin(key, new ObjectStore.Properties(Sha256.of(CONTENT), Instant.now()));
    try {
      ObjectStore.Content content = () -> new ByteArrayInputStream(CONTENT);
      Part part = store.send(key, id, 1, content, CONTENT.length, digests.md5Base64());
      store.complete(key, id, List.of(part), Optional.of(NONE));
    } catch (StoreException failed) {
      boolean refused =
          failed.kind() == StoreException.Kind.CHANGED
              || failed.kind() == StoreException.Kind.MISSING;
      // Ceph 16.2 makes the object, but its answer lacks the version.
      if (refused || store.head(key).isEmpty()) {
        store.abort(key, id);
        if (refused) {
          return true;
        }
        throw failed;
      }
    }
    try {
      store.head(key).ifPresent(made -> store.delete(key, made.etag()));
    } catch (StoreException mayNotDelete) {
      // The byte stays; the note is said once all the same.
    }
    return false;
  }
}
