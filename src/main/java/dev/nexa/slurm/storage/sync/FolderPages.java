package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.ObjectStore.Page;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** The objects below a folder in S3, page by page. Asks for the next page ahead. */
final class FolderPages {
  /** Sends the request for a page. */
  @FunctionalInterface
  interface Asked {
    /**
     * Asks for a page.
     *
     * @param after empty for the first page, else {@code next} of the page before
     */
    Future<Page> of(String folder, Optional<String> after);
  }

  private final String folder;
  private final Asked asked;
  private String name;
  private @Nullable Future<Page> coming;
  private boolean begun;

  private FolderPages(String folder, Asked asked) {
    this.folder = folder;
    this.name = folder;
    this.asked = asked;
  }

  /** The pages of a folder. Asks nothing yet. */
  static FolderPages of(String folder, Asked asked) {
    return new FolderPages(folder, asked);
  }

  /** A page with one object, which is known. */
  static FolderPages of(Listed object) {
    Page page = new Page(List.of(object), Optional.empty());
    return new FolderPages(object.key(), (key, after) -> CompletableFuture.completedFuture(page));
  }

  /** Asks for the first page, unless that was done. */
  void begin() {
    if (!begun) {
      begun = true;
      coming = asked.of(folder, Optional.empty());
    }
  }

  /** The folder that the pages end with: all keys from now on begin with it. */
  String name() {
    return name;
  }

  /** Leaves out all keys after a folder. The last page that was taken ends in that folder. */
  void endWith(String below) {
    name = below;
  }

  /** Returns whether all pages were taken. */
  boolean ended() {
    return begun && coming == null;
  }

  /**
   * Waits for the next page.
   *
   * @throws NexaException if it cannot be had
   */
  List<Listed> take() {
    if (coming == null) {
      throw new IllegalStateException("ended, or not begun");
    }
    Page page = get(coming);
    coming = null;
    List<Listed> objects = page.objects();
    int kept = objects.size();
    while (kept > 0
        && KeyOrder.KEYS.compare(objects.get(kept - 1).key(), name) > 0
        && !objects.get(kept - 1).key().startsWith(name)) {
      kept--;
    }
    if (kept == objects.size() && page.next().isPresent()) {
      coming = asked.of(folder, page.next());
    }
    return objects.subList(0, kept);
  }

  private static Page get(Future<Page> coming) {
    try {
      return coming.get();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof StoreException refused) {
        throw new NexaException(
            ErrorCode.S3_UNAVAILABLE,
            "the listing failed: " + refused.getMessage(),
            Advice.step("nothing was copied or deleted; type the command again"));
      }
      throw failed.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(failed.getCause());
    }
  }
}
