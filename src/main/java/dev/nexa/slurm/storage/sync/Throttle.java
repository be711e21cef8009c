package dev.nexa.slurm.storage.sync;

/** Limits the bytes that all threads together move in a second. */
final class Throttle {
  private final long bytesPerSecond;
  private long free;

  /**
   * Makes a limit.
   *
   * @param bytesPerSecond 0 for none
   */
  Throttle(long bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
    this.free = System.nanoTime();
  }

  /**
   * Waits until some of these bytes may be moved: a quarter of a second's share at most, so that a
   * caller can look often whether it should go on.
   *
   * @return how many bytes may be moved now
   */
  long take(long bytes) {
    if (bytesPerSecond <= 0 || bytes <= 0) {
      return bytes;
    }
    long share = Math.min(bytes, Math.max(1, bytesPerSecond / 4));
    long wait;
    synchronized (this) {
      long now = System.nanoTime();
      // Unused time is not saved up.
      free = Math.max(free, now) + (long) (share * 1e9 / bytesPerSecond);
      wait = free - now;
    }
    Retry.sleep(wait / 1_000_000);
    return share;
  }
}
