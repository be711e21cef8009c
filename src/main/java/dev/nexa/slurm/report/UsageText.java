package dev.nexa.slurm.report;

import dev.nexa.slurm.units.Memory;
import dev.nexa.slurm.usage.JobUsage;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What jobs used, a line each and a last line for all. Takes the jobs twice, first to learn how
 * wide the columns are, so that a million need no memory.
 */
public final class UsageText {
  private static final String UNKNOWN = "-";
  private static final List<String> HEADING =
      List.of(
          "JOB",
          "USER",
          "STATE",
          "ATTEMPTS",
          "ELAPSED",
          "CPU-H",
          "GPU-H",
          "CPU-EFF",
          "MEM",
          "MEM-EFF",
          "NAME");

  private final int[] widths = new int[HEADING.size()];
  private long jobs;
  private @Nullable Long elapsed;
  private @Nullable Long cpuSeconds;
  private @Nullable Long gpuSeconds;

  public UsageText() {
    widen(HEADING);
  }

  /** First, each job once. */
  public void measure(JobUsage job) {
    jobs++;
    elapsed = plus(elapsed, job.elapsedSeconds());
    cpuSeconds = plus(cpuSeconds, job.cpuSeconds());
    gpuSeconds = plus(gpuSeconds, job.gpuSeconds());
    widen(cells(job));
  }

  private static @Nullable Long plus(@Nullable Long sum, @Nullable Long more) {
    if (sum == null || more == null) {
      return sum == null ? more : sum;
    }
    return Long.valueOf(sum + more);
  }

  private void widen(List<String> cells) {
    for (int i = 0; i < widths.length; i++) {
      widths[i] = Math.max(widths[i], cells.get(i).length());
    }
  }

  /** The line above them. */
  public String heading() {
    widen(total());
    return line(HEADING);
  }

  /** Then each job's line. */
  public String line(JobUsage job) {
    return line(cells(job));
  }

  /** The line below them. */
  public String sum() {
    return line(total());
  }

  private List<String> total() {
    return List.of(
        jobs == 1 ? "1 job" : jobs + " jobs",
        "",
        "",
        "",
        duration(elapsed),
        hours(cpuSeconds),
        hours(gpuSeconds),
        "",
        "",
        "",
        "");
  }

  private static List<String> cells(JobUsage job) {
    List<String> cells = new ArrayList<>();
    cells.add(job.id());
    cells.add(text(job.user()));
    cells.add(text(job.state()));
    cells.add("" + job.attempts().size());
    cells.add(duration(job.elapsedSeconds()));
    cells.add(hours(job.cpuSeconds()));
    cells.add(hours(job.gpuSeconds()));
    cells.add(percent(job.cpuEfficiency()));
    cells.add(size(job.memoryBytes()));
    cells.add(percent(job.memoryEfficiency()));
    cells.add(text(job.name()));
    return cells;
  }

  private String line(List<String> cells) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      line.append(cells.get(i));
      line.append(" ".repeat(widths[i] - cells.get(i).length() + 2));
    }
    return line.toString().stripTrailing() + "\n";
  }

  /** Names are other people's: nothing in one may move the cursor. */
  private static String text(@Nullable String text) {
    return text == null || text.isEmpty() ? UNKNOWN : text.replaceAll("\\p{Cntrl}", "?");
  }

  private static String duration(@Nullable Long seconds) {
    if (seconds == null) {
      return UNKNOWN;
    }
    String time = two(seconds / 3600 % 24) + ":" + two(seconds / 60 % 60) + ":" + two(seconds % 60);
    return seconds < 86_400 ? time : seconds / 86_400 + "-" + time;
  }

  private static String two(long number) {
    return number < 10 ? "0" + number : "" + number;
  }

  private static String hours(@Nullable Long seconds) {
    return seconds == null
        ? UNKNOWN
        : BigDecimal.valueOf(seconds)
            .divide(BigDecimal.valueOf(3600), 2, RoundingMode.HALF_EVEN)
            .toPlainString();
  }

  private static String size(@Nullable Long bytes) {
    if (bytes == null) {
      return UNKNOWN;
    }
    String exact = Memory.words(bytes);
    return exact.length() <= 6
        ? exact
        : BigDecimal.valueOf(bytes)
                .divide(BigDecimal.valueOf(1L << 30), 2, RoundingMode.HALF_EVEN)
                .toPlainString()
            + "G";
  }

  private static String percent(@Nullable BigDecimal share) {
    return share == null
        ? UNKNOWN
        : share.movePointRight(2).setScale(0, RoundingMode.HALF_EVEN).toPlainString() + " %";
  }
}
