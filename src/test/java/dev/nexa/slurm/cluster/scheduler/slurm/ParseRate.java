package dev.nexa.slurm.cluster.scheduler.slurm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How many records of sacct's output {@link SacctText} reads in a second, and nothing else: no
 * sacct, no reconcile. Not a test; dev/bench-accounting runs it, on one core.
 */
public final class ParseRate {
  private static final int BUFFER = 64 * 1024;

  private final String delimiter;
  private long records;
  private long seconds;
  private long unreadable;

  private ParseRate(String delimiter) {
    this.delimiter = delimiter;
  }

  /**
   * Prints records a second, one line for each round; the first is cold.
   *
   * @param args a file of sacct's output, how many rounds, and the file's delimiter
   */
  public static void main(String[] args) throws IOException {
    Path file = Path.of(args[0]);
    for (int round = 0; round < Integer.parseInt(args[1]); round++) {
      ParseRate rate = new ParseRate(args[2]);
      long begin = System.nanoTime();
      rate.read(file);
      double took = (System.nanoTime() - begin) / 1e9;
      if (rate.records == 0 || rate.unreadable > 0) {
        throw new IOException(
            file + ": " + rate.records + " rows and " + rate.unreadable + " unreadable");
      }
      System.out.printf("%.0f %d %d%n", rate.records / took, rate.records, rate.seconds);
    }
  }

  private void read(Path file) throws IOException {
    byte[] buffer = new byte[BUFFER];
    try (InputStream in = Files.newInputStream(file);
        SacctText text =
            new SacctText(
                delimiter,
                List.of(),
                row -> {
                  records++;
                  seconds += row.elapsedSeconds();
                },
                row -> unreadable++)) {
      for (int got = in.read(buffer); got > 0; got = in.read(buffer)) {
        text.write(buffer, 0, got);
      }
    }
  }
}
