package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.process.Sleep;
import dev.nexa.slurm.base.progress.Progress.Running;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the bytes that a sync moved, reports bytes and files, and keeps to the bandwidth. */
final class Traffic {
  private static final int STEP = 1 << 16;

  private final AtomicLong bytes = new AtomicLong();
  private volatile Running running = (files, bytes) -> {};
  private final long bytesPerSecond;

  /** The time when all threads have moved the bytes that were let go; guarded by this object. */
  private long free = System.nanoTime();

  private volatile boolean stopped;

  /**
   * Counts nothing yet.
   *
   * @param bytesPerSecond the most bytes that all threads together move in a second; 0 for no limit
   */
  Traffic(long bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  long bytes() {
    return bytes.get();
  }

  /** Also reports to this phase from now on. */
  void report(Running phase) {
    running = phase;
  }

  void fileDone() {
    running.done(1, 0);
  }

  /** Ends all waits: the sync cannot go on. */
  void stop() {
    stopped = true;
  }

  /**
   * Waits until these bytes may be moved.
   *
   * @throws CancellationException if the sync cannot go on
   */
  void await(long more) {
    for (long left = more; left > 0; left -= take(left)) {
      if (stopped) {
        throw new CancellationException("the sync has ended");
      }
    }
  }

  /**
   * Waits until some of these bytes may be moved: at most the share of a quarter of a second. So
   * the caller can look often whether it should go on.
   *
   * @return how many bytes may be moved now
   */
  private long take(long more) {
    if (bytesPerSecond <= 0) {
      return more;
    }
    long share = Math.min(more, Math.max(1, bytesPerSecond / 4));
    long wait;
    synchronized (this) {
      long now = System.nanoTime();
      // Unused time is not saved up.
      free = Math.max(free, now) + (long) (share * 1e9 / bytesPerSecond);
      wait = free - now;
    }
    Sleep.millis(wait / 1_000_000, "keeping to the bandwidth");
    return share;
  }

  /** Counts bytes that were moved. */
  void done(long more) {
    bytes.addAndGet(more);
    running.done(0, more);
  }

  /** Counts bytes that came, and waits as long as the bandwidth demands. */
  void moved(long more) {
    await(more);
    done(more);
  }

  /** Returns the stream, whose bytes are counted when they are read. */
  InputStream counted(InputStream in) {
    return new FilterInputStream(in) {
      @Override
      public int read() throws IOException {
        int one = super.read();
        if (one >= 0) {
          moved(1);
        }
        return one;
      }

      @Override
      public int read(byte[] buffer, int offset, int length) throws IOException {
        int read = super.read(buffer, offset, Math.min(length, STEP));
        if (read > 0) {
          moved(read);
        }
        return read;
      }

      @Override
      public boolean markSupported() {
        return false;
      }
    };
  }
}
