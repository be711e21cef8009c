package dev.nexa.slurm.base.progress;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The rate of the last seconds: a slow beginning, such as a full queue, does not count for ever.
 */
public final class RecentRate {
  private static final long WINDOW = Duration.ofSeconds(10).toNanos();

  private final Deque<Sample> samples = new ArrayDeque<>();

  private record Sample(long nanos, long amount) {}

  /** Takes the amount that was done at a time. Times and amounts never fall. */
  public void add(long nanos, long amount) {
    samples.addLast(new Sample(nanos, amount));
    // One sample before the window stays, so that the rate always covers the whole window.
    while (samples.size() > 2
        && nanos - samples.stream().skip(1).findFirst().orElseThrow().nanos >= WINDOW) {
      samples.removeFirst();
    }
  }

  /** Returns the amount in a second; 0 before there are two samples. */
  public double perSecond() {
    if (samples.size() < 2) {
      return 0;
    }
    Sample first = samples.getFirst();
    Sample last = samples.getLast();
    long nanos = last.nanos - first.nanos;
    return nanos <= 0 ? 0 : (last.amount - first.amount) * 1e9 / nanos;
  }
}
