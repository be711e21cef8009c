package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.files.Sync;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;

/** The real disk, where something happens at the n-th write. */
final class FaultyDisk implements Sync {
  /** What happens. */
  enum How {
    NOTHING,
    /** The process dies, and what it wrote may never have reached the disk. */
    DIES_BEFORE,
    DIES_AFTER,
    /** It dies, and of what it appended some first bytes are there. */
    TORN,
    FAILS,
    /** This write and all that follow. */
    FAILS_ON,
    SLOW
  }

  private final How how;
  private final int at;
  private final Grave grave;
  private final AtomicInteger writes = new AtomicInteger();
  private volatile boolean struck;

  FaultyDisk(How how, int at, Grave grave) {
    this.how = how;
    this.at = at;
    this.grave = grave;
  }

  int writes() {
    return writes.get();
  }

  boolean struck() {
    return struck;
  }

  @Override
  public void force(Path path) throws IOException {
    boolean now = before();
    Sync.DISK.force(path);
    after(now);
  }

  @Override
  public void force(FileChannel open, Path file) throws IOException {
    int number = writes.get() + 1;
    if (number == at && how == How.TORN) {
      tear(file);
    }
    if (number == at && (how == How.TORN || how == How.DIES_BEFORE)) {
      open.close();
    }
    boolean now = before();
    open.force(true);
    if (now && how == How.DIES_AFTER) {
      open.close();
    }
    after(now);
  }

  private boolean before() throws IOException {
    int number = writes.incrementAndGet();
    boolean now = number == at || (number > at && (how == How.FAILS_ON || how == How.SLOW));
    struck |= now;
    if (now) {
      switch (how) {
        case DIES_BEFORE, TORN -> grave.lie();
        case FAILS, FAILS_ON -> throw new IOException("Input/output error");
        case SLOW -> pause();
        default -> {}
      }
    }
    return now;
  }

  private void after(boolean now) {
    if (now && how == How.DIES_AFTER) {
      grave.lie();
    }
  }

  private static void tear(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    int end = bytes.length - 1;
    while (end > 0 && bytes[end - 1] != '\n') {
      end--;
    }
    // Somewhere in the last line.
    int keep = end + (bytes.length - end) / 2;
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate(0));
      channel.truncate(keep);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(15);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
