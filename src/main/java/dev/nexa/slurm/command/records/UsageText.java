package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.text.TextTable;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Formats the table of {@code usage}: a line for each job, and a last line for all.
 *
 * <p>The caller passes all jobs twice: first to {@link #measure}, which finds the column widths,
 * then to {@link #line}. So a million jobs need no memory.
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

  /** Durations, hours, shares and sizes are aligned right. */
  private static final List<Boolean> RIGHT =
      List.of(false, false, false, true, true, true, true, true, true, true, false);

  private final TextTable table = new TextTable(RIGHT);
  private long jobs;
  private @Nullable Long elapsed;
  private @Nullable Long cpuSeconds;
  private @Nullable Long gpuSeconds;

  public UsageText() {
    table.measure(HEADING);
  }

  /** Measures a job. Call this once for each job before {@link #heading}. */
  public void measure(JobUsage job) {
    jobs++;
    elapsed = plus(elapsed, job.elapsedSeconds());
    cpuSeconds = plus(cpuSeconds, job.cpuSeconds());
    gpuSeconds = plus(gpuSeconds, job.gpuSeconds());
    table.measure(cells(job));
  }

  private static @Nullable Long plus(@Nullable Long sum, @Nullable Long more) {
    if (sum == null || more == null) {
      return sum == null ? more : sum;
    }
    return Long.valueOf(sum + more);
  }

  /** Returns the heading. Call this after all jobs were measured. */
  public String heading() {
    table.measure(total());
    return table.line(HEADING);
  }

  /** Returns a job's line. */
  public String line(JobUsage job) {
    return table.line(cells(job));
  }

  /** Returns the line with the sums of all jobs. */
  public String sum() {
    return table.line(total());
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

  /**
   * Replaces control characters: other users choose these names, and they must not move the cursor.
   */
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
