package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.files.RepeatedText;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.units.IndexRange;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of our own sacct call (see {@link SlurmCommands#sacct}) while they come: fields in
 * the order of {@link #FIELDS}, separated by {@link #DELIMITER}, times as epoch seconds. A row is
 * complete at the expected number of columns, so that a newline inside a name does not break the
 * next one. Rows that can't be read are counted and told, never dropped in silence.
 */
public final class SacctText extends OutputStream {
  /**
   * Present in every Slurm from 20.11 to 26.05 (research/slurm_facts.md, section 1); free text not
   * last, because a newline in it would look like the row's end.
   */
  public static final List<String> FIELDS =
      List.of(
          "JobIDRaw",
          "JobID",
          "Cluster",
          "User",
          "Account",
          "Partition",
          "State",
          "ExitCode",
          "Submit",
          "Start",
          "End",
          "ElapsedRaw",
          "NNodes",
          "NodeList",
          "AllocTRES",
          "JobName",
          "Reason",
          "ReqTRES");

  /** ASCII unit separator: no name or path holds it. */
  public static final char DELIMITER = '\u001f';

  /** NO_VAL, and above it INFINITE: unset numbers that leak out (slurm.h). */
  private static final long NO_VAL = 4_294_967_294L;

  private static final Pattern JOB_ID =
      Pattern.compile("(\\d+)(?:_(?:(\\d+)|\\[([^\\]]*)\\])|\\+\\d+)?");

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

  /** Of one column: a million rows name few users, partitions and TRES. */
  private static final int REPEATED = 256;

  private final Consumer<AccountingRecord> rows;
  private final Consumer<String> unreadable;
  private final int columns;

  /** Where the fields that not every version has stand; -1 for one that was not asked for. */
  private final int planned;

  private final int restarts;
  private final RepeatedText[] texts;

  /** What came of a row whose end has not come yet. */
  private byte[] held = new byte[1024];

  private int heldLength;

  /** Where the row's fields end, counted from its first byte. */
  private final int[] ends;

  private int delimiters;
  private String stateText = "";
  private JobState state = JobState.UNRECOGNIZED;

  /**
   * A reader.
   *
   * @param rows told of each allocation row
   * @param unreadable told of each row that is none
   */
  public SacctText(Consumer<AccountingRecord> rows, Consumer<String> unreadable) {
    this(List.of(), rows, unreadable);
  }

  /**
   * The same, of rows with further columns.
   *
   * @param more of {@link ClusterProfile#SACCT_FIELDS}, behind {@link #FIELDS} in this order
   */
  public SacctText(
      List<String> more, Consumer<AccountingRecord> rows, Consumer<String> unreadable) {
    this.rows = rows;
    this.unreadable = unreadable;
    columns = BASE + more.size();
    int newName = more.indexOf("Planned");
    int waited = newName < 0 ? more.indexOf("Reserved") : newName;
    planned = waited < 0 ? -1 : BASE + waited;
    restarts = more.contains("Restarts") ? BASE + more.indexOf("Restarts") : -1;
    texts = new RepeatedText[columns];
    ends = new int[columns];
    for (int column = 0; column < columns; column++) {
      texts[column] = new RepeatedText(REPEATED);
    }
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
      if (b == DELIMITER) {
        if (delimiters < columns) {
          ends[delimiters] = heldLength + i - from;
        }
        delimiters++;
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
      // sacct ends each row with a line feed: one without was cut, perhaps within its last field.
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
    if (delimiters >= columns) {
      endWithDelimiterInName(new String(bytes, from, length, StandardCharsets.UTF_8));
      return;
    }
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
    String text = new String(bytes, from, length, StandardCharsets.UTF_8);
    if (!text.isBlank()) {
      unreadable.accept(text);
    }
  }

  /** Of our columns only the job's name is free text: what is too much is part of it. */
  private void endWithDelimiterInName(String row) {
    String[] field = row.split(String.valueOf(DELIMITER), -1);
    int more = field.length - columns;
    List<String> fields = new ArrayList<>(List.of(field).subList(0, NAME));
    fields.add(String.join("?", List.of(field).subList(NAME, NAME + more + 1)));
    fields.addAll(List.of(field).subList(NAME + more + 1, field.length));
    byte[] again = String.join(String.valueOf(DELIMITER), fields).getBytes(StandardCharsets.UTF_8);
    delimiters = 0;
    for (int i = 0; i < again.length; i++) {
      if (again[i] == DELIMITER) {
        ends[delimiters++] = i;
      }
    }
    endRow(again, 0, again.length);
  }

  /** The row; null if a field is not what it should be, as in a step's row. */
  private @Nullable AccountingRecord record(byte[] bytes, int from) {
    try {
      String shown = plain(bytes, from, JOB_ID_SHOWN);
      int underscore = shown.indexOf('_');
      boolean task = underscore > 0 && isNumber(shown, underscore + 1);
      Matcher id = JOB_ID.matcher(shown);
      if (!task && !id.matches()) {
        return null;
      }
      return new AccountingRecord(
          text(bytes, from, CLUSTER),
          Long.parseLong(task ? shown.substring(0, underscore) : id.group(1)),
          number(bytes, from, JOB_ID_RAW),
          task ? IndexRange.of(Integer.parseInt(shown.substring(underscore + 1))) : tasks(id),
          text(bytes, from, USER),
          text(bytes, from, ACCOUNT),
          text(bytes, from, PARTITION),
          state(text(bytes, from, STATE)),
          stateText,
          text(bytes, from, EXIT_CODE),
          time(bytes, from, SUBMIT).orElse(Instant.EPOCH),
          time(bytes, from, START),
          time(bytes, from, END),
          elapsed(bytes, from),
          text(bytes, from, NODES),
          (int) known(number(bytes, from, NODE_COUNT)),
          text(bytes, from, ALLOC_TRES),
          text(bytes, from, REQ_TRES),
          text(bytes, from, REASON),
          text(bytes, from, NAME),
          AccountingRecord.Witness.ACCOUNTING,
          columns == BASE ? AccountingRecord.More.NONE : more(bytes, from));
    } catch (IllegalArgumentException | ArithmeticException notAnAllocationRow) {
      return null;
    }
  }

  private AccountingRecord.More more(byte[] bytes, int from) {
    Optional<Long> count = Optional.empty();
    if (restarts >= 0 && ends[restarts] > start(restarts)) {
      long told = number(bytes, from, restarts);
      count = told < NO_VAL ? Optional.of(told) : Optional.empty();
    }
    Optional<Long> waited = planned < 0 ? Optional.empty() : duration(text(bytes, from, planned));
    return new AccountingRecord.More(waited, count);
  }

  /** {@code [D-]HH:MM:SS}; anything else, such as INVALID, is not known. */
  private static Optional<Long> duration(String text) {
    long seconds = 0;
    long part = 0;
    int colons = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= '0' && c <= '9') {
        part = part * 10 + c - '0';
      } else if (c == '-' && i > 0 && colons == 0) {
        seconds = part * 24;
        part = 0;
      } else if (c == ':') {
        seconds = (seconds + part) * 60;
        part = 0;
        colons++;
      } else {
        return Optional.empty();
      }
    }
    return colons == 2 ? Optional.of(seconds + part) : Optional.empty();
  }

  private static boolean isNumber(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return from < text.length();
  }

  private static IndexRange tasks(Matcher id) {
    if (id.group(2) != null) {
      return IndexRange.parse(id.group(2));
    }
    return id.group(3) != null ? IndexRange.parse(id.group(3)) : IndexRange.upTo(0);
  }

  /** Most rows say the same as the one before. */
  private JobState state(String text) {
    if (!text.equals(stateText)) {
      stateText = text;
      state = JobState.parse(text);
    }
    return state;
  }

  private int start(int column) {
    return column == 0 ? 0 : ends[column - 1] + 1;
  }

  private String text(byte[] bytes, int from, int column) {
    return texts[column].of(bytes, from + start(column), from + ends[column]);
  }

  private String plain(byte[] bytes, int from, int column) {
    int start = start(column);
    return new String(bytes, from + start, ends[column] - start, StandardCharsets.UTF_8);
  }

  /** Slurm's own figure; where that leaked out unset, from start to end. */
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

  /** Empty is none: zero. */
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

  /** Epoch seconds; {@code Unknown}, {@code None}, zero and the NO_VAL numbers are no time. */
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
