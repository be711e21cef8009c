package dev.nexa.slurm.data.generate;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * How long to wait before the next try.
 *
 * @param first the wait after the first try; each further wait is twice as long
 * @param most the longest wait that is not the server's own
 * @param random from 0 to 1, so that many clients do not come back at the same moment
 */
record Backoff(Duration first, Duration most, DoubleSupplier random) {
  /** A server that asks for longer is asked again after this time. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Returns the usual waits: from one second to one minute. */
  static Backoff usual() {
    return new Backoff(
        Duration.ofSeconds(1),
        Duration.ofMinutes(1),
        () -> ThreadLocalRandom.current().nextDouble());
  }

  /**
   * Returns the wait after a try.
   *
   * @param tries how many tries there were, from 1
   * @param asked what the server asks for; empty if nothing
   */
  Duration after(int tries, Optional<Duration> asked) {
    long factor = 1L << Math.min(tries - 1, 20);
    Duration own = least(first.multipliedBy(factor), most);
    // Between a half and the whole.
    long jittered = (long) (own.toMillis() * (0.5 + random.getAsDouble() / 2));
    Duration wait = Duration.ofMillis(jittered);
    Duration wanted = least(asked.orElse(Duration.ZERO), PATIENCE);
    return wanted.compareTo(wait) > 0 ? wanted : wait;
  }

  private static Duration least(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
