package dev.nexa.slurm.base.progress;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** Remembers each phase, and what was done of it. */
public final class RecordedProgress implements Progress {
  private final List<Recorded> phases = new CopyOnWriteArrayList<>();

  /** A phase that was begun. */
  private static final class Recorded implements Running {
    private final Phase phase;
    private final AtomicLong items = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean closed;

    Recorded(Phase phase) {
      this.phase = phase;
    }

    @Override
    public void done(long moreItems, long moreBytes) {
      items.addAndGet(moreItems);
      bytes.addAndGet(moreBytes);
    }

    @Override
    public void close() {
      closed = true;
    }

    @Override
    public String toString() {
      return phase.doing()
          + (phase.items().isEmpty()
              ? ""
              : " " + items + of(phase.totalItems().orElse(-1)) + " " + phase.items())
          + (phase.totalBytes().isEmpty() && bytes.get() == 0
              ? ""
              : " " + bytes + of(phase.totalBytes().orElse(-1)) + " bytes")
          + (closed ? "" : ", open");
    }

    private static String of(long total) {
      return total < 0 ? "" : "/" + total;
    }
  }

  @Override
  public Running begin(Phase phase) {
    Recorded begun = new Recorded(phase);
    phases.add(begun);
    return begun;
  }

  /** Returns a line for each phase: {@code copying 3/3 files 12/12 bytes}. */
  public List<String> lines() {
    return phases.stream().map(Recorded::toString).toList();
  }
}
