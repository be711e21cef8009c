package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.json.Utf8Pool;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.sacct.Delimiter;
import dev.nexa.slurm.cluster.sacct.Durations;
import dev.nexa.slurm.cluster.sacct.UsageId;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Parses the output of the sacct calls of {@link SlurmCommands} as it arrives. Fields come in the
 * order of {@link #FIELDS}, separated by a {@link Delimiter}, with times as epoch seconds.
 *
 * <p>A row ends at the newline after its last column, so a newline inside a job name does not split
 * it. Every row that cannot be read is passed to the {@code unreadable} consumer; no row is dropped
 * silently. Not thread-safe.
 */
public final class SacctText extends OutputStream {
  /**
   * The fields of every call; each Slurm from 20.11 to 26.05 has them. JobName is not the last
   * field, because a newline in it would look like the row's end.
   */
  public static final List<String> FIELDS =
      List.of(
          ("JobIDRaw JobID Cluster User Account Partition State ExitCode Submit Start"
                  + " End ElapsedRaw NNodes NodeList AllocTRES JobName Reason ReqTRES")
              .split(" ", -1));

  /**
   * The fields that every call adds after {@link #FIELDS}, in this order, to check a row against
   * itself. Each Slurm from 20.11 to 26.05 has them.
   */
  public static final List<String> CHECKS = List.of("Suspended", "AllocCPUS");

  /** NO_VAL (slurm.h), an unset number that Slurm sometimes prints; INFINITE is above it. */
  private static final long NO_VAL = 4_294_967_294L;

  private static final int JOB_ID_RAW = 0;
  private static final int JOB_ID_SHOWN = 1;
  private static final int CLUSTER = 2;
  private static final int USER = 3;
  private static final int ACCOUNT = 4;
  private static final int PARTITION = 5;
  private static final int STATE = 6;
  private static final int EXIT_CODE = 7;
  private static final int SUBMIT = 8;
  private static final int START = 9;
  private static final int END = 10;
  private static final int ELAPSED = 11;
  private static final int NODE_COUNT = 12;
  private static final int NODES = 13;
  private static final int ALLOC_TRES = 14;
  private static final int NAME = 15;
  private static final int REASON = 16;
  private static final int REQ_TRES = 17;
  private static final int BASE = FIELDS.size();

  /** Size of a column's string pool: a million rows name few users, partitions and TRES. */
  private static final int REPEATED = 256;

  private final byte[] delimiter;
  private final Consumer<AccountingRecord> rows;
  private final Consumer<String> unreadable;
  private final int columns;

  /** Column of a field that not every version has; -1 if it was not queried. */
  private final int planned;

  private final int restarts;
  private final int suspended;
  private final int allocCpus;
  private final Utf8Pool[] texts;
  private final RowFaults faults = new RowFaults();
  private final List<AccountingRecord> broken = new ArrayList<>();

  /** The beginning of a row whose end has not arrived yet. */
  private byte[] held = new byte[1024];

  private int heldLength;

  /** End of each field in bytes, relative to the row's first byte. */
  private final int[] ends;

  private int delimiters;

  /** How many bytes of a delimiter have arrived. */
  private int matched;

  private String stateText = "";
  private JobState state = JobState.UNRECOGNIZED;

  /**
   * Creates a parser.
   *
   * @param delimiter stands between two fields; its first character does not occur again in it
   * @param more the columns after {@link #FIELDS}, in order: {@link #CHECKS}, and fields of {@link
   *     ClusterProfile#SACCT_FIELDS}
   * @param rows receives each allocation row
   * @param unreadable receives the text of each row that cannot be read, with | between two fields
   */
  public SacctText(
      String delimiter,
      List<String> more,
      Consumer<AccountingRecord> rows,
      Consumer<String> unreadable) {
    this.delimiter = delimiter.getBytes(StandardCharsets.US_ASCII);
    this.rows = rows;
    this.unreadable = unreadable;
    columns = BASE + more.size();
    int newName = more.indexOf("Planned");
    int waited = newName < 0 ? more.indexOf("Reserved") : newName;
    planned = waited < 0 ? -1 : BASE + waited;
    restarts = column(more, "Restarts");
    suspended = column(more, "Suspended");
    allocCpus = column(more, "AllocCPUS");
    texts = new Utf8Pool[columns];
    ends = new int[columns];
    for (int column = 0; column < columns; column++) {
      texts[column] = new Utf8Pool(REPEATED);
    }
  }

  private static int column(List<String> more, String field) {
    return more.contains(field) ? BASE + more.indexOf(field) : -1;
  }

  /**
   * Returns the unreadable rows that have all their columns, each with its job's name and one fault
   * that quotes it. Such a row makes its own job unclear, not the rest of the answer.
   */
  public List<AccountingRecord> broken() {
    return broken;
  }

  @Override
  public void write(int b) {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    int end = offset + length;
    int from = offset;
    for (int i = offset; i < end; i++) {
      byte b = bytes[i];
      if (b == delimiter[matched]) {
        matched++;
      } else {
        matched = b == delimiter[0] ? 1 : 0;
      }
      if (matched == delimiter.length) {
        if (delimiters < columns) {
          ends[delimiters] = heldLength + i + 1 - from - delimiter.length;
        }
        delimiters++;
        matched = 0;
      } else if (b == '\n' && (delimiters == 0 || delimiters >= columns - 1)) {
        if (heldLength == 0) {
          endRow(bytes, from, i - from);
        } else {
          hold(bytes, from, i);
          endHeld();
        }
        from = i + 1;
      }
    }
    hold(bytes, from, end);
  }

  @Override
  public void close() {
    if (heldLength > 0) {
      // sacct ends each row with a line feed; a row without one was cut.
      delimiters = 0;
      endHeld();
    }
  }

  private void hold(byte[] bytes, int from, int to) {
    int length = heldLength + to - from;
    if (length > held.length) {
      held = Arrays.copyOf(held, Math.max(length, 2 * held.length));
    }
    System.arraycopy(bytes, from, held, heldLength, to - from);
    heldLength = length;
  }

  private void endHeld() {
    int length = heldLength;
    heldLength = 0;
    endRow(held, 0, length);
  }

  private void endRow(byte[] bytes, int from, int length) {
    boolean whole = delimiters == columns - 1;
    delimiters = 0;
    if (whole) {
      ends[columns - 1] = length;
      AccountingRecord row = record(bytes, from);
      if (row != null) {
        rows.accept(row);
        return;
      }
    }
    String text =
        new String(bytes, from, length, StandardCharsets.UTF_8)
            .replace(new String(delimiter, StandardCharsets.US_ASCII), "|");
    if (whole) {
      broken.add(broken(bytes, from, text));
    }
    if (!text.isBlank()) {
      unreadable.accept(text);
    }
  }

  /** Returns the row; null if a field has no valid value, as in the row of a step. */
  private @Nullable AccountingRecord record(byte[] bytes, int from) {
    try {
      UsageId id = UsageId.parse(null, plain(bytes, from, JOB_ID_SHOWN));
      if (id == null) {
        return null;
      }
      return checked(
          bytes,
          from,
          new AccountingRecord(
              new AccountingRecord.JobIds(
                  text(bytes, from, CLUSTER),
                  id.job(),
                  number(bytes, from, JOB_ID_RAW),
                  tasks(id),
                  text(bytes, from, NAME)),
              new AccountingRecord.Association(
                  text(bytes, from, USER),
                  text(bytes, from, ACCOUNT),
                  text(bytes, from, PARTITION)),
              new AccountingRecord.Status(
                  state(text(bytes, from, STATE)),
                  stateText,
                  text(bytes, from, EXIT_CODE),
                  text(bytes, from, REASON)),
              new AccountingRecord.Times(
                  time(bytes, from, SUBMIT).orElse(Instant.EPOCH),
                  time(bytes, from, START),
                  time(bytes, from, END),
                  elapsed(bytes, from)),
              new AccountingRecord.Allocated(
                  text(bytes, from, NODES),
                  (int) known(number(bytes, from, NODE_COUNT)),
                  text(bytes, from, ALLOC_TRES),
                  text(bytes, from, REQ_TRES)),
              AccountingRecord.Witness.ACCOUNTING,
              more(bytes, from)));
    } catch (IllegalArgumentException | ArithmeticException notAnAllocationRow) {
      return null;
    }
  }

  private AccountingRecord checked(byte[] bytes, int from, AccountingRecord row) {
    List<String> found =
        faults.of(
            row,
            text(bytes, from, ELAPSED),
            suspended < 0 ? Optional.empty() : duration(text(bytes, from, suspended)),
            allocCpus < 0 ? "" : text(bytes, from, allocCpus));
    return found.isEmpty() ? row : row.faulty(found);
  }

  private AccountingRecord broken(byte[] bytes, int from, String row) {
    return new AccountingRecord(
            new AccountingRecord.JobIds(
                text(bytes, from, CLUSTER), 0, 0, IndexRange.upTo(0), text(bytes, from, NAME)),
            AccountingRecord.Association.UNKNOWN,
            new AccountingRecord.Status(JobState.UNRECOGNIZED, "", "", ""),
            new AccountingRecord.Times(Instant.EPOCH, Optional.empty(), Optional.empty(), 0),
            new AccountingRecord.Allocated("", 0, "", ""),
            AccountingRecord.Witness.ACCOUNTING,
            AccountingRecord.More.NONE)
        .faulty(List.of("the row cannot be read: " + row));
  }

  private AccountingRecord.More more(byte[] bytes, int from) {
    Optional<Long> count = Optional.empty();
    if (restarts >= 0 && ends[restarts] > start(restarts)) {
      long told = number(bytes, from, restarts);
      count = told < NO_VAL ? Optional.of(told) : Optional.empty();
    }
    Optional<Long> waited = planned < 0 ? Optional.empty() : duration(text(bytes, from, planned));
    return waited.isEmpty() && count.isEmpty()
        ? AccountingRecord.More.NONE
        : new AccountingRecord.More(waited, count, List.of());
  }

  /** Returns a duration's seconds; empty for any other text, such as INVALID. */
  private static Optional<Long> duration(String text) {
    long millis = Durations.millis(text);
    return millis < 0 ? Optional.empty() : Optional.of(millis / 1000);
  }

  private static IndexRange tasks(UsageId id) {
    if (id.tasks() != null) {
      return IndexRange.parse(id.tasks());
    }
    // A component of a heterogeneous job counts as a task.
    int task = Math.max(id.task(), id.het());
    return task == UsageId.NONE ? IndexRange.upTo(0) : IndexRange.of(task);
  }

  /** Parses a state only when it changes, because most rows repeat the state of the row before. */
  private JobState state(String text) {
    if (!text.equals(stateText)) {
      stateText = text;
      state = JobState.parse(text);
    }
    return state;
  }

  private int start(int column) {
    return column == 0 ? 0 : ends[column - 1] + delimiter.length;
  }

  private String text(byte[] bytes, int from, int column) {
    return texts[column].of(bytes, from + start(column), from + ends[column]);
  }

  private String plain(byte[] bytes, int from, int column) {
    int start = start(column);
    return new String(bytes, from + start, ends[column] - start, StandardCharsets.UTF_8);
  }

  /** Returns ElapsedRaw; if it is unset (NO_VAL), the seconds from start to end. */
  private long elapsed(byte[] bytes, int from) {
    long seconds = number(bytes, from, ELAPSED);
    if (seconds < NO_VAL) {
      return Math.max(0, seconds);
    }
    Optional<Instant> start = time(bytes, from, START);
    Optional<Instant> end = time(bytes, from, END);
    return start.isPresent() && end.isPresent()
        ? Math.max(0, end.get().getEpochSecond() - start.get().getEpochSecond())
        : 0;
  }

  private static long known(long number) {
    return number >= NO_VAL ? 0 : number;
  }

  /** Returns the column's number; 0 if the column is empty. */
  private long number(byte[] bytes, int from, int column) {
    int start = from + start(column);
    int end = from + ends[column];
    boolean negative = start < end && bytes[start] == '-';
    long number = 0;
    for (int i = negative ? start + 1 : start; i < end; i++) {
      int digit = bytes[i] - '0';
      if (digit < 0 || digit > 9) {
        throw new NumberFormatException(plain(bytes, from, column));
      }
      number = Math.addExact(Math.multiplyExact(number, 10L), digit);
    }
    return negative ? -number : number;
  }

  /** Returns the time of epoch seconds; empty for {@code Unknown}, {@code None}, 0 and NO_VAL. */
  private Optional<Instant> time(byte[] bytes, int from, int column) {
    int start = from + start(column);
    if (start == from + ends[column] || bytes[start] < '0' || bytes[start] > '9') {
      return Optional.empty();
    }
    long seconds = number(bytes, from, column);
    return seconds == 0 || seconds >= NO_VAL
        ? Optional.empty()
        : Optional.of(Instant.ofEpochSecond(seconds));
  }
}
