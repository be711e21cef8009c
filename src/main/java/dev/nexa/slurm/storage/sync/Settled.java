package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.Sync;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Writes finished files into the state. Files that several threads finish meanwhile share one fsync
 * of each folder and one of the log.
 *
 * <p>After a kill, the next sync compares the files that were not written yet by their digests.
 */
final class Settled implements Closeable {
  /** How long files are gathered: each fsync holds up the threads that force files to disk. */
  private static final long GATHER = TimeUnit.MILLISECONDS.toNanos(100);

  private final SyncState state;
  private final Thread writer;
  private List<Synced> records = new ArrayList<>();
  private Set<Path> folders = new LinkedHashSet<>();
  private boolean closed;
  private @Nullable Exception failure;

  Settled(SyncState state) {
    this.state = state;
    this.writer = SyncRun.daemons("sync-state").newThread(this::write);
    writer.start();
  }

  /**
   * Adds a finished file.
   *
   * @param changed the folders whose names must be on disk before the record is
   */
  synchronized void add(Synced record, List<Path> changed) {
    records.add(record);
    folders.addAll(changed);
    notifyAll();
  }

  private void write() {
    try {
      while (true) {
        List<Synced> done;
        Set<Path> dirty;
        synchronized (this) {
          while (records.isEmpty() && !closed) {
            wait();
          }
          long until = System.nanoTime() + GATHER;
          for (long left = GATHER; left > 0 && !closed; left = until - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
          }
          if (records.isEmpty()) {
            return;
          }
          done = records;
          dirty = folders;
          records = new ArrayList<>();
          folders = new LinkedHashSet<>();
        }
        for (Path folder : dirty) {
          Sync.DISK.force(folder);
        }
        state.add(done);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (IOException | RuntimeException failed) {
      synchronized (this) {
        failure = failed;
      }
    }
  }

  /** Waits until all records are on disk. */
  @Override
  public void close() throws IOException {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    try {
      writer.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    synchronized (this) {
      if (failure instanceof RuntimeException failed) {
        throw failed;
      }
      if (failure instanceof IOException failed) {
        throw failed;
      }
    }
  }
}
