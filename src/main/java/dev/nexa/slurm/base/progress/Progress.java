package dev.nexa.slurm.base.progress;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Receives reports of how far a long command is. One phase runs at a time. */
@FunctionalInterface
public interface Progress {
  /** Ignores all reports. */
  Progress NONE = phase -> (items, bytes) -> {};

  /** Begins a phase. The caller closes it when the phase has ended, also after a failure. */
  Running begin(Phase phase);

  /** A phase that has begun. Several threads may report to it. */
  @FunctionalInterface
  interface Running extends AutoCloseable {
    /** Adds items and bytes that are done. */
    void done(long items, long bytes);

    @Override
    default void close() {
      // There is nothing to clear.
    }

    /** Returns the stream. It reports each byte as done when the byte is read. */
    default InputStream counting(InputStream in) {
      return new FilterInputStream(in) {
        @Override
        public int read() throws IOException {
          int one = super.read();
          done(0, one < 0 ? 0 : 1);
          return one;
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
          int read = super.read(buffer, offset, length);
          done(0, Math.max(0, read));
          return read;
        }

        @Override
        public boolean markSupported() {
          return false;
        }
      };
    }
  }
}
