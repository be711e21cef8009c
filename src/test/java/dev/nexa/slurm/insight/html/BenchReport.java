package dev.nexa.slurm.insight.html;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Opens reports in Chromium and prints a row for each: the size of the file, the first paint, the
 * first sort of its table, and the memory of the process that shows it. {@code dev/bench-report}
 * makes the reports.
 */
public final class BenchReport {
  private static final double MIB = 1 << 20;

  /** The table's rows are in the document again after the frame that follows the click. */
  private static final String SORT =
      """
      const began = performance.now();
      document.querySelector('#runs-table [data-column=cost] button').click();
      return new Promise((done) => requestAnimationFrame(() => setTimeout(() =>
        done(String(performance.now() - began)))));
      """;

  private static final String FIRST_PAINT =
      """
      return String(performance.getEntriesByName('first-contentful-paint')[0].startTime);
      """;

  private BenchReport() {}

  /** NAME FILE PAGE: the page is what the file opens with, such as {@code #runs}. */
  public static void main(String[] args) throws IOException {
    Path file = Path.of(args[1]);
    Path profile = Files.createTempDirectory("bench-report");
    try (Browser browser = new Browser(profile)) {
      // The browser itself is warm, as it is on a desk.
      browser.open(Path.of("/dev/null"), "");
      browser.open(file, args[2]);
      double paint = Double.parseDouble(browser.text(FIRST_PAINT));
      double sort = args[2].equals("#runs") ? Double.parseDouble(browser.text(SORT)) : Double.NaN;
      System.out.printf(
          Locale.ROOT,
          "| %s | %.2f | %.0f | %s | %.0f | %.0f |%n",
          args[0],
          Files.size(file) / MIB,
          paint,
          Double.isNaN(sort) ? "" : String.format(Locale.ROOT, "%.0f", sort),
          Double.parseDouble(browser.text("return String(performance.memory.usedJSHeapSize)"))
              / MIB,
          renderer(profile) / MIB);
    }
  }

  /** Returns the proportional set size of the largest process that shows a page, in bytes. */
  private static long renderer(Path profile) throws IOException {
    long most = 0;
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      for (Path process : processes.filter(one -> Files.isDirectory(one)).toList()) {
        try {
          String command = Files.readString(process.resolve("cmdline"));
          if (command.contains("--type=renderer") && command.contains(profile.toString())) {
            most = Math.max(most, pss(process));
          }
        } catch (IOException ended) {
          // The process has ended, or is none.
        }
      }
    }
    return most;
  }

  private static long pss(Path process) throws IOException {
    for (String line : Files.readAllLines(process.resolve("smaps_rollup"))) {
      if (line.startsWith("Pss:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
      }
    }
    return 0;
  }
}
