package dev.nexa.slurm.data.generate;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The reason why no more requests are sent. The first reason counts. */
final class Stop {
  private Optional<RuntimeException> reason = Optional.empty();
  private final CountDownLatch stopped = new CountDownLatch(1);

  /** Stops, because of a failure. */
  synchronized void because(RuntimeException failure) {
    reason = reason.or(() -> Optional.of(failure));
    stopped.countDown();
  }

  /** Stops, because the process is asked to end. */
  void now() {
    stopped.countDown();
  }

  boolean isStopped() {
    return stopped.getCount() == 0;
  }

  /** Waits; returns early, with true, if it is stopped. */
  boolean sleep(Duration time) throws InterruptedException {
    return stopped.await(time.toMillis(), TimeUnit.MILLISECONDS);
  }

  synchronized Optional<RuntimeException> reason() {
    return reason;
  }
}
