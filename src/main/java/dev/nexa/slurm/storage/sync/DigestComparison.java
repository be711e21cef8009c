package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.storage.sync.ObjectStore.Body;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.time.Instant;
import java.util.Optional;

/**
 * Compares a file and an object of the same size by their digests.
 *
 * @param countReads whether the bytes of local files count as progress
 */
record DigestComparison(Sides sides, boolean countReads) {
  /** Whether the object's bytes are read, and not only its digest asked for. */
  enum ReadObject {
    NEVER,
    IF_IT_HAS_NO_DIGEST,
    ALWAYS
  }

  /** The result of a comparison. */
  enum Verdict {
    EQUAL,
    DIFFERENT,
    /** The object has no digest, and its bytes were not read. */
    UNKNOWN
  }

  /**
   * A verdict.
   *
   * @param synced what to record if they are equal
   */
  record Compared(Verdict verdict, Synced synced) {}

  /**
   * Compares.
   *
   * @throws StoreException of kind CHANGED if a side is not as it was planned
   */
  Compared of(Action action, ReadObject read) throws IOException {
    Instant begun = Instant.now();
    String key = sides.key(action.path());
    Listed object = action.remote().orElseThrow();
    Optional<Stored> asked = asked(action, key, object, read);
    Optional<String> theirs = asked.flatMap(Stored::sha256).or(action::recorded);
    Digests digests = digests(action.local().orElseThrow(), theirs.isEmpty());
    String sha256 = digests.sha256();
    Verdict verdict =
        theirs
            .map(sha256::equals)
            .or(() -> asked.flatMap(Stored::md5).map(digests.md5Hex()::equals))
            .map(this::verdict)
            .orElse(Verdict.UNKNOWN);
    if (read == ReadObject.ALWAYS
        || (read == ReadObject.IF_IT_HAS_NO_DIGEST && verdict == Verdict.UNKNOWN)) {
      verdict = verdict(sides.retry().call(() -> sha256OfObject(key, object)).equals(sha256));
    }
    return new Compared(verdict, Synced.of(action.local().get(), begun, sha256, object.etag()));
  }

  /**
   * Returns what the store says of the object. Empty if nobody needs to ask: the listing has the
   * version whose digest the record holds.
   */
  private Optional<Stored> asked(Action action, String key, Listed object, ReadObject read)
      throws IOException {
    if (read != ReadObject.ALWAYS && action.recorded().isPresent()) {
      return Optional.empty();
    }
    Optional<Stored> stored = sides.retry().call(() -> sides.store().head(key));
    if (stored.isEmpty() || !stored.get().etag().equals(object.etag())) {
      throw StoreException.changed("the object in S3 changed since the plan was made");
    }
    return stored;
  }

  private Verdict verdict(boolean same) {
    return same ? Verdict.EQUAL : Verdict.DIFFERENT;
  }

  private Digests digests(LocalFile file, boolean md5) throws IOException {
    Digests digests = new Digests();
    if (!md5) {
      digests.withoutMd5();
    }
    try (InputStream in = Channels.newInputStream(sides.tree().read(file.path()))) {
      long read = digests.read(in, Long.MAX_VALUE);
      if (countReads) {
        sides.traffic().done(read);
      }
    }
    sides.tree().requireUnchanged(file);
    return digests;
  }

  private String sha256OfObject(String key, Listed object) {
    Digests digests = new Digests();
    digests.withoutMd5();
    try (Body body = sides.store().get(key, object.etag(), 0, ObjectStore.END)) {
      long read = digests.read(sides.traffic().counted(body.in()), Long.MAX_VALUE);
      if (read < object.bytes()) {
        throw new IOException("the answer was cut short");
      }
    } catch (IOException cut) {
      throw StoreException.busy("the connection was cut");
    }
    return digests.sha256();
  }
}
