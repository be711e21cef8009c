package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.sacct.RequestRow.Limit;
import dev.nexa.slurm.cluster.scheduler.Tres;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of sacct's table (-P) about jobs and what they asked for, as {@link DumpText}
 * finds them. Rows of steps are ignored.
 */
public final class RequestRows implements RowReader {
  /** The fields that are asked of sacct. */
  public static final List<String> FIELDS =
      List.of(
          "JobID User Account Partition Submit End ElapsedRaw TimelimitRaw AllocTRES ReqTRES"
              .split(" ", -1));

  private static final List<SacctField> NEEDED =
      List.of(
          SacctField.JOBID,
          SacctField.USER,
          SacctField.ACCOUNT,
          SacctField.SUBMIT,
          SacctField.ELAPSEDRAW,
          SacctField.ALLOCTRES);

  private final LocalTimes times;
  private final Problems problems;
  private final Consumer<RequestRow> rows;
  private @Nullable DumpColumns columns;

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
  public void begin(DumpColumns next, int line) {
    columns = next;
  }

  /** Returns the needed columns that the first line lacks, by sacct's names. */
  public List<String> missing() {
    return NEEDED.stream()
        .filter(field -> columns == null || !columns.has(field))
        .map(SacctField::label)
        .toList();
  }

  /** Returns whether the rows have the time limit. */
  public boolean hasLimits() {
    return columns != null && columns.has(SacctField.TIMELIMITRAW);
  }

  @Override
  public void read(List<@Nullable String> cells, int line) {
    DumpColumns known = Objects.requireNonNull(columns);
    Function<SacctField, String> cell =
        field -> Objects.requireNonNullElse(known.cell(cells, field), "").strip();
    String text = cell.apply(SacctField.JOBID);
    UsageId id = UsageId.parse(null, text);
    // A step has no id of a job, and a row that was cut is a problem already.
    if (id == null || cells.size() < known.size() || !missing().isEmpty()) {
      return;
    }
    try {
      String got = cell.apply(SacctField.ALLOCTRES);
      String tres = got.isEmpty() ? cell.apply(SacctField.REQTRES) : got;
      rows.accept(
          new RequestRow(
              Long.toString(id.job()),
              text,
              tasks(id),
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
      problems.add(line, "job " + text + " cannot be read: " + broken.getMessage());
    }
  }

  /** Returns the number of tasks in {@code 7-99}; 1 for a single task. */
  private static int tasks(UsageId id) {
    return id.tasks() == null ? 1 : IndexRange.parse(id.tasks()).indices().size();
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
