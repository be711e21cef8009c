package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.sacct.RequestRow.Limit;
import dev.nexa.slurm.cluster.scheduler.Tres;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

  private static final List<String> NEEDED =
      List.of("jobid", "user", "account", "submit", "elapsedraw", "alloctres");
  private static final Pattern JOB = Pattern.compile("(\\d+)(?:_(\\d+)|_\\[(.+)]|\\+\\d+)?");

  private final ZoneId zone;
  private final Problems problems;
  private final Consumer<RequestRow> rows;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final Map<String, Integer> columns = new HashMap<>();
  private String delimiter = "|";
  private int number;

  /**
   * Creates a reader.
   *
   * @param zone the zone of times without a zone; times in epoch seconds need none
   * @param problems receives a problem for each row that cannot be read
   */
  public RequestRows(ZoneId zone, Problems problems, Consumer<RequestRow> rows) {
    this.zone = zone;
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
    return FIELDS.stream()
        .filter(field -> NEEDED.contains(field.toLowerCase(Locale.ROOT)))
        .filter(field -> !columns.containsKey(field.toLowerCase(Locale.ROOT)))
        .toList();
  }

  /** Returns whether the rows tell the time limit. */
  public boolean hasLimits() {
    return columns.containsKey("timelimitraw");
  }

  private void line(String text) {
    number++;
    if (text.isEmpty()) {
      return;
    }
    if (columns.isEmpty()) {
      delimiter = text.indexOf('\u001f') >= 0 ? "\u001f" : "|";
      String[] names = text.replace("\uFEFF", "").split(Pattern.quote(delimiter), -1);
      for (int i = 0; i < names.length; i++) {
        columns.put(names[i].strip().toLowerCase(Locale.ROOT), i);
      }
      return;
    }
    if (missing().isEmpty()) {
      row(text.split(Pattern.quote(delimiter), -1));
    }
  }

  private void row(String[] cells) {
    String id = cell(cells, "jobid");
    if (id.indexOf('.') >= 0) {
      return;
    }
    Matcher job = JOB.matcher(id);
    if (!job.matches() || cells.length < columns.size()) {
      problems.add(number, "is no row of a job: " + id);
      return;
    }
    try {
      String got = cell(cells, "alloctres");
      String tres = got.isEmpty() ? cell(cells, "reqtres") : got;
      rows.accept(
          new RequestRow(
              job.group(1),
              id,
              tasks(job.group(3)),
              cell(cells, "user"),
              cell(cells, "account"),
              cell(cells, "partition"),
              time(cell(cells, "submit")).orElseThrow(),
              time(cell(cells, "end")),
              Duration.ofSeconds(Long.parseLong(cell(cells, "elapsedraw"))),
              limit(cell(cells, "timelimitraw")),
              Tres.parse(tres),
              Tres.nodes(tres).orElse(1)));
    } catch (RuntimeException broken) {
      problems.add(number, "job " + id + " cannot be read: " + broken.getMessage());
    }
  }

  private String cell(String[] cells, String name) {
    Integer at = columns.get(name);
    return at == null || at >= cells.length ? "" : cells[at].strip();
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
    if (text.isEmpty() || text.equals("Unknown") || text.equals("None")) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          text.matches("\\d+")
              ? Instant.ofEpochSecond(Long.parseLong(text))
              : LocalDateTime.parse(text).atZone(zone).toInstant());
    } catch (DateTimeException notATime) {
      throw new IllegalArgumentException("'" + text + "' is no time", notATime);
    }
  }
}
