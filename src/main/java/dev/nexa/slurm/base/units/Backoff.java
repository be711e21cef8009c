package dev.nexa.slurm.base.units;

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
public record Backoff(Duration first, Duration most, DoubleSupplier random) {
  /** A server that asks for longer is asked again after this time. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Returns waits with a random part. */
  public static Backoff between(Duration first, Duration most) {
    return new Backoff(first, most, () -> ThreadLocalRandom.current().nextDouble());
  }

  /**
   * Returns the wait after a try: between a half and the whole of what the doubling gives.
   *
   * @param tries how many tries there were, from 1
   */
  public Duration after(int tries) {
    Duration own = least(first.multipliedBy(1L << Math.min(tries - 1, 20)), most);
    return Duration.ofMillis((long) (own.toMillis() * (0.5 + random.getAsDouble() / 2)));
  }

  /**
   * Returns the wait after a try.
   *
   * @param asked the pause that the server asks for; empty if it asks for none
   */
  public Duration after(int tries, Optional<Duration> asked) {
    Duration wait = after(tries);
    Duration wanted = least(asked.orElse(Duration.ZERO), PATIENCE);
    return wanted.compareTo(wait) > 0 ? wanted : wait;
  }

  private static Duration least(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
