package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.sacct.RequestRow.Limit;
import dev.nexa.slurm.cluster.scheduler.Tres;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads sacct's table (-P) of jobs and what they asked for, as it is written to this stream. The
 * first line names the columns. Rows of steps are ignored.
 */
public final class RequestRows extends OutputStream {
  /** The fields that are asked of sacct. */
  public static final List<String> FIELDS =
      List.of(
          "JobID",
          "User",
          "Account",
          "Partition",
          "Submit",
          "End",
          "ElapsedRaw",
          "TimelimitRaw",
          "AllocTRES",
          "ReqTRES");

  private static final List<SacctField> NEEDED =
      List.of(
          SacctField.JOBID,
          SacctField.USER,
          SacctField.ACCOUNT,
          SacctField.SUBMIT,
          SacctField.ELAPSEDRAW,
          SacctField.ALLOCTRES);

  private static final Pattern JOB = Pattern.compile("(\\d+)(?:_(\\d+)|_\\[(.+)]|\\+\\d+)?");

  private final LocalTimes times;
  private final Problems problems;
  private final Consumer<RequestRow> rows;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private @Nullable Columns columns;
  private int number;

  /**
   * Creates a reader.
   *
   * @param zone the zone of times without a zone; times in epoch seconds need none
   * @param problems receives a problem for each row that cannot be read
   */
  public RequestRows(ZoneId zone, Problems problems, Consumer<RequestRow> rows) {
    this.times = new LocalTimes(zone);
    this.problems = problems;
    this.rows = rows;
  }

  @Override
  public void write(int b) {
    if (b == '\n') {
      line(line.toString(StandardCharsets.UTF_8).stripTrailing());
      line.reset();
    } else {
      line.write(b);
    }
  }

  @Override
  public void write(byte[] buffer, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      write(buffer[i]);
    }
  }

  @Override
  public void close() {
    if (line.size() > 0) {
      write('\n');
    }
  }

  /** Returns the needed columns that the first line lacks, by sacct's names. */
  public List<String> missing() {
    return NEEDED.stream()
        .filter(field -> columns == null || !columns.has(field))
        .map(SacctField::label)
        .toList();
  }

  /** Returns whether the rows tell the time limit. */
  public boolean hasLimits() {
    return columns != null && columns.has(SacctField.TIMELIMITRAW);
  }

  private void line(String text) {
    number++;
    if (text.isEmpty()) {
      return;
    }
    Columns known = columns;
    if (known == null) {
      String delimiter = text.indexOf('\u001f') >= 0 ? "\u001f" : "|";
      String names = text.replace("\uFEFF", "");
      columns = new Columns(List.of(names.split(Pattern.quote(delimiter), -1)), delimiter, false);
    } else if (missing().isEmpty()) {
      row(known, new ArrayList<>(known.cells(text)));
    }
  }

  private void row(Columns columns, List<@Nullable String> cells) {
    Function<SacctField, String> cell =
        field -> Objects.requireNonNullElse(columns.cell(cells, field), "").strip();
    String id = cell.apply(SacctField.JOBID);
    if (DumpCell.step(id) != null) {
      return;
    }
    Matcher job = JOB.matcher(id);
    if (!job.matches() || cells.size() < columns.size()) {
      problems.add(number, "is no row of a job: " + id);
      return;
    }
    try {
      String got = cell.apply(SacctField.ALLOCTRES);
      String tres = got.isEmpty() ? cell.apply(SacctField.REQTRES) : got;
      rows.accept(
          new RequestRow(
              job.group(1),
              id,
              tasks(job.group(3)),
              cell.apply(SacctField.USER),
              cell.apply(SacctField.ACCOUNT),
              cell.apply(SacctField.PARTITION),
              time(cell.apply(SacctField.SUBMIT)).orElseThrow(),
              time(cell.apply(SacctField.END)),
              Duration.ofSeconds(Long.parseLong(cell.apply(SacctField.ELAPSEDRAW))),
              limit(cell.apply(SacctField.TIMELIMITRAW)),
              Tres.parse(tres),
              Tres.nodes(tres).orElse(1)));
    } catch (RuntimeException broken) {
      problems.add(number, "job " + id + " cannot be read: " + broken.getMessage());
    }
  }

  /** Returns the number of tasks in {@code 7-99%4}; 1 for a single task. */
  private static int tasks(String range) {
    return range == null ? 1 : IndexRange.parse(range.replaceFirst("%.*", "")).indices().size();
  }

  private Limit limit(String text) {
    if (!hasLimits() || text.isEmpty()) {
      return new Limit(Limit.Kind.UNKNOWN, Duration.ZERO);
    }
    if (text.equalsIgnoreCase("partition_limit")) {
      return new Limit(Limit.Kind.OF_PARTITION, Duration.ZERO);
    }
    return text.matches("\\d{1,9}")
        ? new Limit(Limit.Kind.SET, Duration.ofMinutes(Long.parseLong(text)))
        : new Limit(Limit.Kind.UNLIMITED, Duration.ZERO);
  }

  private Optional<Instant> time(String text) {
    long seconds = times.read(text);
    if (seconds == LocalTimes.UNREADABLE) {
      throw new IllegalArgumentException("'" + text + "' is no time");
    }
    return Optional.of(Instant.ofEpochSecond(seconds)).filter(at -> seconds != LocalTimes.UNKNOWN);
  }
}
