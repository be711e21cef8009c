package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.process.Sleep;
import dev.nexa.slurm.base.units.Backoff;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Sends a request again while the store is busy.
 *
 * @param attempts how often a request is sent, including the first time
 * @param pauses the pauses between them
 */
record Retry(int attempts, Backoff pauses) {
  static final Retry USUAL =
      new Retry(8, Backoff.between(Duration.ofMillis(100), Duration.ofSeconds(20)));

  /**
   * Sends a request until it succeeds.
   *
   * @throws StoreException if it still fails at the last attempt, or for another reason than a busy
   *     store
   */
  <T> T call(Supplier<T> request) {
    for (int attempt = 1; ; attempt++) {
      try {
        return request.get();
      } catch (StoreException failed) {
        if (failed.kind() != StoreException.Kind.BUSY) {
          throw failed;
        }
        if (attempt >= attempts) {
          throw StoreException.busy(failed.getMessage() + " (tried " + attempts + " times)");
        }
        pause(attempt);
      }
    }
  }

  /** Sends a request that has no answer, as {@link #call} does. */
  void run(Runnable request) {
    call(
        () -> {
          request.run();
          return request;
        });
  }

  /** Waits between this attempt and the next. */
  void pause(int attempt) {
    Sleep.millis(pauses.after(attempt).toMillis(), "waiting to try again");
  }
}
