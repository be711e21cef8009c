package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.command.shared.Stdout;
import dev.nexa.slurm.storage.sync.SyncRun;
import java.io.PrintWriter;
import java.time.Duration;

/** Prints how far a sync is: each second over the line before on a terminal, else each minute. */
final class SyncProgress implements SyncRun.Watch {
  private static final long MINUTE = 60;

  private final PrintWriter err;
  private final long allFiles;
  private final long allBytes;
  private final boolean terminal = Stdout.canAsk();
  private final long begun = System.nanoTime();
  private long printed;

  SyncProgress(PrintWriter err, long allFiles, long allBytes) {
    this.err = err;
    this.allFiles = allFiles;
    this.allBytes = allBytes;
  }

  @Override
  public void progress(long bytes, long files) {
    long seconds = (System.nanoTime() - begun) / 1_000_000_000L;
    if (!terminal && seconds - printed < MINUTE) {
      return;
    }
    printed = seconds;
    String line = line(bytes, files, allBytes, allFiles, seconds);
    if (terminal) {
      // Not through err, which makes control characters visible.
      System.err.print("\r" + line + "    ");
      System.err.flush();
    } else {
      err.println(line);
    }
  }

  /** Returns the line: files, bytes, the mean rate, and the time that is left at this rate. */
  static String line(long bytes, long files, long allBytes, long allFiles, long seconds) {
    long rate = bytes / Math.max(1, seconds);
    String line =
        files
            + " of "
            + allFiles
            + " files, "
            + Memory.rounded(bytes)
            + " of "
            + Memory.rounded(allBytes)
            + ", "
            + Memory.rounded(rate)
            + "/s";
    boolean known = rate > 0 && bytes < allBytes;
    return known
        ? line + ", " + TimeLimit.words(Duration.ofSeconds((allBytes - bytes) / rate + 1)) + " left"
        : line;
  }
}
