package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.LookAhead;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.ObjectStore.Page;
import java.io.Closeable;
import java.util.Collections;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * All objects below a prefix, in the order of their keys, which are relative to the prefix.
 *
 * <p>S3 gives a thousand keys a request, and each request needs the answer to the request before
 * it. The next page is asked for while the caller works on the current page.
 *
 * <p>A page that cannot be had ends the iteration with an exception, never early.
 */
final class RemoteListing extends LookAhead<Listed> implements Closeable {
  private final Sides sides;
  private final String prefix;
  private final ExecutorService ahead =
      Executors.newSingleThreadExecutor(SyncRun.daemons("sync-list"));

  /** The next page; null after the last page. */
  private @Nullable Future<Page<Listed>> coming;

  private Iterator<Listed> page = Collections.emptyIterator();
  private String last = "";

  RemoteListing(Sides sides) {
    this.sides = sides;
    this.prefix = sides.place().prefix();
    coming = ask(Optional.empty());
  }

  private Future<Page<Listed>> ask(Optional<String> after) {
    return ahead.submit(() -> sides.retry().call(() -> sides.store().list(prefix, after)));
  }

  @Override
  protected Optional<Listed> advance() {
    while (!page.hasNext() && coming != null) {
      Page<Listed> taken = wait(coming);
      coming = taken.next().isPresent() ? ask(taken.next()) : null;
      page = taken.entries().iterator();
    }
    return page.hasNext() ? Optional.of(checked(page.next())) : Optional.empty();
  }

  private static Page<Listed> wait(Future<Page<Listed>> coming) {
    try {
      return coming.get();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof StoreException refused) {
        throw ErrorCode.S3_UNAVAILABLE.error(
            "the listing failed: " + refused.getMessage(),
            "nothing was copied or deleted; type the command again");
      }
      throw failed.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(failed.getCause());
    }
  }

  /** A listing that is out of order would make files look as if they were missing. */
  private Listed checked(Listed object) {
    String key = object.key();
    boolean inOrder =
        key.startsWith(prefix) && (last.isEmpty() || NamesOfFiles.ORDER.compare(last, key) < 0);
    if (!inOrder) {
      throw ErrorCode.S3_UNAVAILABLE.error(
          "the listing of %s is not in UTF-8 order: '%s' comes after '%s'"
              .formatted(sides.place().address(), key, last),
          "nothing was copied or deleted; rename one of the two objects",
          "S3 lists keys by the bytes of their UTF-8; this store does not");
    }
    last = key;
    return new Listed(
        key.substring(prefix.length()), object.bytes(), object.etag(), object.modified());
  }

  @Override
  public void close() {
    ahead.shutdownNow();
  }
}
