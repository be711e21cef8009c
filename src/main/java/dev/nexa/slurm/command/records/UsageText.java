package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.text.TextTable;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Formats the table of {@code usage}: a line for each job, and a last line for all.
 *
 * <p>The caller passes all jobs twice: first to {@link #measure}, which finds the column widths,
 * then to {@link #line}. So a million jobs need no memory. If a line does not fit the terminal, the
 * user, the attempts, the memory and the name follow on an indented line; nothing is cut.
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

  /** The columns that stay in line on a narrow terminal; the others follow below. */
  private static final List<Integer> IN_LINE = List.of(0, 2, 4, 5, 6, 7, 9);

  private static final String INDENT = "    ";
  private static final List<Integer> BELOW = List.of(1, 3, 8, 10);

  private final TextTable table = new TextTable(RIGHT);
  private final TextTable narrow = new TextTable(picked(RIGHT, IN_LINE));
  private final TableStyle style;
  private long jobs;
  private @Nullable Long elapsed;
  private @Nullable Long cpuSeconds;
  private @Nullable Long gpuSeconds;

  public UsageText(TableStyle style) {
    this.style = style;
    measure(HEADING);
  }

  private void measure(List<String> cells) {
    table.measure(cells);
    narrow.measure(picked(cells, IN_LINE));
  }

  private static <T> List<T> picked(List<T> cells, List<Integer> columns) {
    return columns.stream().map(cells::get).toList();
  }

  private String text(List<String> cells) {
    return table.width() <= style.width() ? table.line(cells) : narrow.line(picked(cells, IN_LINE));
  }

  /** Returns the columns that do not fit, with their headings. */
  private String below(List<String> cells) {
    if (table.width() <= style.width()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    String line = "";
    for (int column : BELOW) {
      String value = cells.get(column);
      if (!value.equals(UNKNOWN)) {
        String words = HEADING.get(column).toLowerCase(Locale.ROOT) + " " + value;
        boolean full = INDENT.length() + line.length() + 2 + words.length() > style.width();
        if (full && !line.isEmpty()) {
          text.append(INDENT).append(line).append('\n');
          line = "";
        }
        line += line.isEmpty() ? words : ", " + words;
      }
    }
    return line.isEmpty() ? "" : text.append(INDENT).append(line).append('\n').toString();
  }

  /** Measures a job. Call this once for each job before {@link #heading}. */
  public void measure(JobUsage job) {
    jobs++;
    elapsed = plus(elapsed, job.elapsedSeconds());
    cpuSeconds = plus(cpuSeconds, job.cpuSeconds());
    gpuSeconds = plus(gpuSeconds, job.gpuSeconds());
    measure(cells(job));
  }

  private static @Nullable Long plus(@Nullable Long sum, @Nullable Long more) {
    if (sum == null || more == null) {
      return sum == null ? more : sum;
    }
    return Long.valueOf(sum + more);
  }

  /** Returns the heading. Call this after all jobs were measured. */
  public String heading() {
    measure(total());
    return text(HEADING);
  }

  /** Returns a job's line. */
  public String line(JobUsage job) {
    List<String> cells = cells(job);
    return text(cells) + below(cells);
  }

  /** Returns the line with the sums of all jobs. */
  public String sum() {
    return text(total());
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
    return seconds == null ? UNKNOWN : TimeLimit.clock(Duration.ofSeconds(seconds));
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
