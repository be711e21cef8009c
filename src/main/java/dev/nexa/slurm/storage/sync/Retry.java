package dev.nexa.slurm.storage.sync;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

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
          throw new StoreException(
              StoreException.Kind.BUSY, failed.getMessage() + " (tried " + attempts + " times)");
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

  /** Waits before the attempt after this one. */
  void pause(int attempt) {
    long most = Math.min(longest.toMillis(), first.toMillis() << Math.min(attempt - 1, 20));
    sleep(most / 2 + ThreadLocalRandom.current().nextLong(most / 2 + 1));
  }

  /** Waits. The end of the process may interrupt it. */
  static void sleep(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    }
  }
}
