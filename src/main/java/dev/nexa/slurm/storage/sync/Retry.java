package dev.nexa.slurm.storage.sync;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Sends a request again while the store is busy. The pauses double, with a random part, so that
 * many threads do not come back at once.
 *
 * @param attempts how often a request is sent, including the first time
 * @param first the pause before the second attempt
 * @param longest the longest pause
 */
record Retry(int attempts, Duration first, Duration longest) {
  static final Retry USUAL = new Retry(8, Duration.ofMillis(100), Duration.ofSeconds(20));

  /** A request. */
  @FunctionalInterface
  interface Request<T> {
    T send() throws IOException;
  }

  /**
   * Sends a request until it succeeds.
   *
   * @throws StoreException if it still fails at the last attempt, or for another reason than a busy
   *     store
   */
  <T> T call(Request<T> request) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return request.send();
      } catch (StoreException failed) {
        if (failed.kind() != StoreException.Kind.BUSY) {
          throw failed;
        }
        if (attempt >= attempts) {
          throw new StoreException(
              StoreException.Kind.BUSY, failed.getMessage() + " (tried " + attempts + " times)");
        }
        pause(attempt);
      }
    }
  }

  /** Waits before the attempt after this one. */
  void pause(int attempt) {
    long most = Math.min(longest.toMillis(), first.toMillis() << Math.min(attempt - 1, 20));
    try {
      Thread.sleep(most / 2 + ThreadLocalRandom.current().nextLong(most / 2 + 1));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    }
  }
}
