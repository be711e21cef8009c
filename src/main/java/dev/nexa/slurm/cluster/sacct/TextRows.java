package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.units.SlurmSize;
import dev.nexa.slurm.cluster.scheduler.Tres;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the cells of one row into a {@link JobRow} or {@link StepRow}. A cell that cannot be read
 * makes its value unknown and is added to the problems.
 */
final class TextRows implements RowReader {
  private static final Pattern ENERGY = Pattern.compile("(?<![^,])energy=([^,]+)");

  private final LocalTimes times;
  private final JobUsages usages;
  private final Problems problems;
  private final States states;
  private final StringPool<String> texts = new StringPool<>(text -> text);
  private final StringPool<Tres> lists = new StringPool<>(Tres::parse);
  private final StringPool<GpusOf> gpus;
  private DumpColumns columns = new DumpColumns(List.of(), "", false);
  private List<@Nullable String> cells = List.of();
  private int line;
  private @Nullable UsageId last;
  private final Set<SacctField> lacking = EnumSet.noneOf(SacctField.class);

  TextRows(LocalTimes times, JobUsages usages, Problems problems) {
    this.times = times;
    this.usages = usages;
    this.problems = problems;
    this.states = new States(problems);
    this.gpus = new StringPool<>(text -> new GpusOf(Gpus.of(Tres.parse(text), Gpus.tracked(text))));
  }

  /**
   * A GPU map in a record, because a pool cannot hold null. Rows with equal resources share one
   * map.
   */
  private record GpusOf(@Nullable Map<String, Long> byType) {}

  @Override
  public void begin(DumpColumns next, int number) {
    columns = next;
    for (SacctField field : SacctField.values()) {
      if (!next.has(field)) {
        lacking.add(field);
      }
    }
    usages.begin(number, !next.has(SacctField.JOBID));
    for (int i = 0; i < next.size(); i++) {
      if (!next.isKnown(i)) {
        problems.addOnce(
            number, "the column '" + next.name(i) + "' is not one we know; kept as it is");
      }
    }
  }

  /** Returns the fields that a table lacked, by sacct's names. */
  List<String> lacking() {
    return lacking.stream().map(SacctField::label).toList();
  }

  @Override
  public void read(List<@Nullable String> row, int number) {
    cells = row;
    line = number;
    String text = columns.jobId(row);
    UsageId id = text == null ? null : id(DumpCell.allocation(text));
    if (text == null || id == null) {
      problems.add(line, "'" + text + "' is no job id; the row is left out");
      return;
    }
    String step = DumpCell.step(text);
    if (step == null) {
      usages.add(job(id));
      if (columns.has(SacctField.MAXRSS) && !cell(SacctField.MAXRSS).isEmpty()) {
        // Before 22.05, the allocation's row also held its only step's measurements (CHANGELOG).
        usages.add(step(id, "", JobRow.UNKNOWN));
      }
    } else {
      usages.add(step(id, texts.of(step), cpuMicros()));
    }
  }

  /** Reads an id. Consecutive rows of one job share one object. */
  private @Nullable UsageId id(String text) {
    UsageId id = UsageId.parse(word(SacctField.CLUSTER), text);
    if (id != null && !id.equals(last)) {
      last = id;
    }
    return id == null ? null : last;
  }

  private JobRow job(UsageId id) {
    String alloc = columns.cell(cells, SacctField.ALLOCTRES);
    Tres tres = lists.of(alloc == null ? "" : alloc);
    long[] startAndEnd = startAndEnd();
    return new JobRow(
        id,
        line,
        rawId(),
        new JobRow.Times(
            time(SacctField.SUBMIT),
            (int) startAndEnd[0],
            (int) startAndEnd[1],
            elapsed(),
            limit()),
        new JobRow.Allocated(
            cpus(tres),
            tres.knownMemoryBytes().orElse(JobRow.UNKNOWN),
            alloc == null ? null : gpus(alloc)),
        cpuMicros(),
        energy(),
        new JobNames(name(), word(SacctField.USER), word(SacctField.ACCOUNT)),
        states.read(cell(SacctField.STATE), line),
        word(SacctField.EXITCODE),
        nodes(),
        other());
  }

  private StepRow step(UsageId id, String name, long cpuMicros) {
    int start = time(SacctField.START);
    boolean ended =
        columns.has(SacctField.END)
            ? time(SacctField.END) != JobRow.UNKNOWN
            : !cell(SacctField.STATE).startsWith("RUNNING");
    String total = cell(SacctField.USAGETOTAL);
    long maxRss = size(cell(SacctField.MAXRSS));
    OptionalLong peak = SlurmSize.bytes(SlurmSize.item(total, "mem"), 1);
    boolean oneTask = cell(SacctField.NTASKS).equals("1");
    OptionalLong percent = SlurmSize.count(SlurmSize.item(total, "gres/gpuutil"));
    int elapsed = elapsed();
    return new StepRow(
        id,
        name,
        line,
        start == JobRow.UNKNOWN ? time(SacctField.SUBMIT) : start,
        ended,
        cpuMicros == 0 && !ended ? JobRow.UNKNOWN : cpuMicros,
        maxRss,
        peak.orElse(oneTask ? maxRss : JobRow.UNKNOWN),
        percent.isPresent() && elapsed >= 0 ? percent.getAsLong() * 10 * elapsed : JobRow.UNKNOWN);
  }

  private String cell(SacctField field) {
    String cell = columns.cell(cells, field);
    return cell == null ? "" : cell.strip();
  }

  private @Nullable String word(SacctField field) {
    String cell = cell(field);
    return cell.isEmpty() ? null : texts.of(cell);
  }

  private @Nullable String name() {
    String cell = columns.cell(cells, SacctField.JOBNAME);
    return cell == null ? null : texts.of(cell);
  }

  private @Nullable String nodes() {
    String cell = cell(SacctField.NODELIST);
    return cell.equals("None assigned") || LocalTimes.isNothing(cell) ? null : texts.of(cell);
  }

  private int rawId() {
    OptionalLong raw = SlurmSize.count(cell(SacctField.JOBIDRAW));
    return raw.isPresent() ? (int) raw.getAsLong() : JobRow.UNKNOWN;
  }

  private int cpus(Tres tres) {
    SacctField field =
        cell(SacctField.ALLOCCPUS).isEmpty() ? SacctField.NCPUS : SacctField.ALLOCCPUS;
    String cell = cell(field);
    OptionalLong cpus = cell.isEmpty() ? tres.knownCpus() : SlurmSize.count(cell);
    if (!cell.isEmpty() && cpus.isEmpty()) {
      unknown(field, cell);
    }
    return whole(cpus);
  }

  private int elapsed() {
    String raw = cell(SacctField.ELAPSEDRAW);
    if (!raw.isEmpty()) {
      OptionalLong seconds = SlurmSize.count(raw);
      if (seconds.isEmpty()) {
        unknown(SacctField.ELAPSEDRAW, raw);
      }
      return whole(seconds);
    }
    long millis = millis(SacctField.ELAPSED);
    return millis < 0 ? JobRow.UNKNOWN : whole(OptionalLong.of(millis / 1000));
  }

  /** sacct prints minutes, or a word such as UNLIMITED. */
  private int limit() {
    String minutes = cell(SacctField.TIMELIMITRAW);
    return minutes.matches("\\d{1,7}") ? Integer.parseInt(minutes) * 60 : JobRow.UNKNOWN;
  }

  private static int whole(OptionalLong number) {
    return number.isPresent() && number.getAsLong() <= Integer.MAX_VALUE
        ? (int) number.getAsLong()
        : JobRow.UNKNOWN;
  }

  private long millis(SacctField field) {
    String cell = cell(field);
    if (LocalTimes.isNothing(cell)) {
      return JobRow.UNKNOWN;
    }
    long millis = Durations.millis(cell);
    if (millis < 0) {
      unknown(field, cell);
    }
    return Math.max(JobRow.UNKNOWN, millis);
  }

  private long cpuMicros() {
    long millis = millis(SacctField.TOTALCPU);
    return millis < 0 ? JobRow.UNKNOWN : millis * 1000;
  }

  private long size(String cell) {
    OptionalLong bytes = SlurmSize.bytes(cell, 1);
    if (bytes.isEmpty() && !cell.isEmpty()) {
      unknown(SacctField.MAXRSS, cell);
    }
    return bytes.orElse(JobRow.UNKNOWN);
  }

  /**
   * Returns joules: of the row's own fields, else of its AllocTRES. 0 is unknown, because clusters
   * that do not measure energy print 0.
   */
  private long energy() {
    String raw = cell(SacctField.ENERGYRAW);
    String cell = raw.isEmpty() ? cell(SacctField.ENERGY) : raw;
    long joules = SlurmSize.scaled(cell, 1, 1000).orElse(0);
    Matcher allocated = ENERGY.matcher(cell(SacctField.ALLOCTRES));
    if (joules == 0 && allocated.find()) {
      joules = SlurmSize.scaled(allocated.group(1), 1, 1000).orElse(0);
    }
    return joules == 0 ? JobRow.UNKNOWN : joules;
  }

  private int time(SacctField field) {
    return (int) seconds(field);
  }

  private long seconds(SacctField field) {
    String cell = cell(field);
    long seconds = times.read(cell);
    if (seconds == LocalTimes.UNREADABLE) {
      unknown(field, cell);
    }
    return Math.max(JobRow.UNKNOWN, seconds);
  }

  /**
   * Returns start and end in epoch seconds. If the clock was put back between them, or both lie in
   * the hour that occurs twice, the elapsed time shows which occurrence is right.
   */
  private long[] startAndEnd() {
    long start = seconds(SacctField.START);
    long end = seconds(SacctField.END);
    long startAgain = start < 0 ? 0 : times.again(cell(SacctField.START));
    long endAgain = end < 0 ? 0 : times.again(cell(SacctField.END));
    if (start < 0 || end < 0 || (startAgain == 0 && endAgain == 0)) {
      return new long[] {start, end};
    }
    long suspended = Math.max(0, millis(SacctField.SUSPENDED) / 1000);
    long ran = elapsed() + suspended;
    long[][] ways = {
      {start, end},
      {start, end + endAgain},
      {start + startAgain, end + endAgain},
      {start + startAgain, end}
    };
    for (long[] way : ways) {
      if (way[1] - way[0] == ran) {
        return way;
      }
    }
    return end < start ? ways[1] : ways[0];
  }

  private @Nullable Map<String, Long> gpus(String alloc) {
    Map<String, Long> allocated = gpus.of(alloc).byType();
    boolean asked =
        Gpus.asked(cell(SacctField.REQTRES)) || Gpus.namedByGres(cell(SacctField.REQGRES));
    return asked && allocated != null && !Gpus.tracked(alloc) ? null : allocated;
  }

  /** Returns the columns that no Slurm from 20.11 to 26.05 has, by name; null for none. */
  private @Nullable Map<String, String> other() {
    Map<String, String> other = null;
    for (int i = 0; i < cells.size() && i < columns.size(); i++) {
      String cell = columns.isKnown(i) ? null : cells.get(i);
      if (cell != null && !cell.isEmpty()) {
        other = other == null ? new TreeMap<>() : other;
        other.put(columns.name(i), texts.of(cell));
      }
    }
    return other;
  }

  private void unknown(SacctField field, String cell) {
    problems.add(line, field.label() + " is '" + cell + "', which we can't read: unknown");
  }
}
