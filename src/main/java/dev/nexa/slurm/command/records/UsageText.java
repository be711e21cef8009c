package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.text.TextTable;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Formats the table of {@code usage}: a line for each job, and a last line for all.
 *
 * <p>The caller passes all jobs twice: first to {@link #measure}, which finds the column widths,
 * then to {@link #line}. So a million jobs need no memory. A line that does not fit the terminal
 * continues on an indented line, with the user, the attempts, the memory and the name. No text is
 * cut.
 */
public final class UsageText {
  private static final String UNKNOWN = "-";

  /**
   * A column.
   *
   * @param right whether its values end at the right edge, as numbers do
   * @param inLine whether a narrow terminal shows it in the job's first line
   * @param total its text in the line of all jobs
   */
  private record Column(
      String heading,
      boolean right,
      boolean inLine,
      Function<JobUsage, String> cell,
      Function<UsageText, String> total) {

    Column(String heading, boolean right, boolean inLine, Function<JobUsage, String> cell) {
      this(heading, right, inLine, cell, all -> "");
    }
  }

  private static final List<Column> COLUMNS =
      List.of(
          new Column("JOB", false, true, JobUsage::id, all -> Plural.of(all.jobs, "job")),
          new Column("USER", false, false, job -> text(job.names().user())),
          new Column("STATE", false, true, job -> text(job.state())),
          new Column("ATTEMPTS", true, false, job -> "" + job.attempts().size()),
          summed(
              "ELAPSED",
              job -> duration(job.time().elapsedSeconds()),
              all -> duration(all.elapsed)),
          summed("CPU-H", job -> hours(job.time().cpuSeconds()), all -> hours(all.cpuSeconds)),
          summed("GPU-H", job -> hours(job.time().gpuSeconds()), all -> hours(all.gpuSeconds)),
          new Column("CPU-EFF", true, true, job -> percent(job.efficiency().cpu())),
          new Column("MEM", true, false, job -> size(job.memoryBytes())),
          new Column("MEM-EFF", true, true, job -> percent(job.efficiency().memory())),
          new Column("NAME", false, false, job -> text(job.names().name())));

  private static Column summed(
      String heading, Function<JobUsage, String> cell, Function<UsageText, String> total) {
    return new Column(heading, true, true, cell, total);
  }

  private static final List<String> HEADING = COLUMNS.stream().map(Column::heading).toList();
  private static final String INDENT = "    ";

  private final TextTable table = new TextTable(COLUMNS.stream().map(Column::right).toList());
  private final TextTable narrow =
      new TextTable(COLUMNS.stream().filter(Column::inLine).map(Column::right).toList());
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
    narrow.measure(inLine(cells));
  }

  private static List<String> inLine(List<String> cells) {
    return IntStream.range(0, cells.size())
        .filter(i -> COLUMNS.get(i).inLine())
        .mapToObj(cells::get)
        .toList();
  }

  private String text(List<String> cells) {
    return table.width() <= style.width() ? table.line(cells) : narrow.line(inLine(cells));
  }

  /** Returns the columns that do not fit, with their headings. */
  private String below(List<String> cells) {
    if (table.width() <= style.width()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    String line = "";
    for (int i = 0; i < cells.size(); i++) {
      String value = cells.get(i);
      if (!COLUMNS.get(i).inLine() && !value.equals(UNKNOWN)) {
        String words = HEADING.get(i).toLowerCase(Locale.ROOT) + " " + value;
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
    elapsed = plus(elapsed, job.time().elapsedSeconds());
    cpuSeconds = plus(cpuSeconds, job.time().cpuSeconds());
    gpuSeconds = plus(gpuSeconds, job.time().gpuSeconds());
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
    return COLUMNS.stream().map(column -> column.total().apply(this)).toList();
  }

  private static List<String> cells(JobUsage job) {
    return COLUMNS.stream().map(column -> column.cell().apply(job)).toList();
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
