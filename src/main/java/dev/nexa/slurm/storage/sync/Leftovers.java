package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.sync.ObjectStore.Pending;
import dev.nexa.slurm.storage.sync.ObjectStore.PendingPage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Multipart uploads that nobody completed. The store keeps their parts, and charges for them. */
public final class Leftovers {
  private final ObjectStore store;
  private final String prefix;

  /** Looks at the keys that begin with the prefix. */
  public Leftovers(ObjectStore store, String prefix) {
    this.store = store;
    this.prefix = prefix;
  }

  /** Returns the uploads that began before a time. */
  public List<Pending> begunBefore(Instant time) {
    List<Pending> found = new ArrayList<>();
    Optional<String> after = Optional.empty();
    do {
      Optional<String> marker = after;
      PendingPage page = call(() -> store.pending(prefix, marker));
      for (Pending upload : page.uploads()) {
        if (upload.key().startsWith(prefix) && upload.started().isBefore(time)) {
          found.add(upload);
        }
      }
      after = page.next();
    } while (after.isPresent());
    return found;
  }

  /** Removes uploads with their parts. */
  public void abort(List<Pending> uploads) {
    for (Pending upload : uploads) {
      call(
          () -> {
            store.abort(upload.key(), upload.uploadId());
            return upload;
          });
    }
  }

  private static <T> T call(Supplier<T> request) {
    try {
      return Retry.USUAL.call(request);
    } catch (StoreException refused) {
      throw new NexaException(
          ErrorCode.S3_UNAVAILABLE,
          String.valueOf(refused.getMessage()),
          Advice.step("type the command again later"));
    }
  }
}
