package dev.nexa.slurm.command.datasets;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.storage.datasets.DatasetFile;
import java.util.Locale;
import java.util.function.Consumer;

/** Prints a line every ten seconds while files are read. */
final class Progress {
  private static final long PAUSE = 10_000_000_000L;

  private final Consumer<String> line;
  private long next = System.nanoTime() + PAUSE;
  private long files;
  private long bytes;

  Progress(Consumer<String> line) {
    this.line = line;
  }

  /** Counts a file that was read. */
  void read(DatasetFile file) {
    files++;
    bytes += file.bytes();
    if (System.nanoTime() > next) {
      next = System.nanoTime() + PAUSE;
      line.accept(String.format(Locale.ROOT, "read %,d files, %s", files, Memory.rounded(bytes)));
    }
  }
}
