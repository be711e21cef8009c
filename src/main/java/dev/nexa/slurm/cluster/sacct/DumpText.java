package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Parses the output of {@code sacct -P} or {@code sacct -p} as it arrives. Columns are identified
 * by the header or by given names, in any order, with any delimiter.
 *
 * <p>A newline inside a name or comment breaks a row, so lines are joined until all columns are
 * complete. If they cannot be joined, the first line counts as a job with the columns that it has,
 * and the other lines become problems.
 */
public final class DumpText extends OutputStream {
  /**
   * The fields to query from sacct. No free text is last, because a newline in it would look like
   * the row's end.
   */
  public static final List<String> FIELDS = SacctField.wanted();

  /** The first character of a UTF-8 file that some editors write. */
  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private static final int MOST_JOINED = 64;
  private static final int MOST_BEFORE_HEADER = 50;
  private static final List<String> USUAL = List.of("\u001f", "|", "\t", ";", ",");

  private final @Nullable String delimiter;
  private final List<String> fields;
  private final RowReader rows;
  private final Problems problems;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
  private final List<String> pending = new ArrayList<>();
  private int pendingLine;
  private int pendingDelimiters;
  private int line;
  private int before;
  private boolean carriageReturns;
  private @Nullable DumpColumns columns;

  /**
   * Creates a parser.
   *
   * @param delimiter the text between two columns; null to take it from the header
   * @param fields the columns' names if the dump has no header; empty to read a header
   * @param zone the time zone of sacct's times
   * @param usages receives the rows
   * @param problems receives what could not be read
   */
  public DumpText(
      @Nullable String delimiter,
      List<String> fields,
      ZoneId zone,
      JobUsages usages,
      Problems problems) {
    this(delimiter, fields, new TextRows(new LocalTimes(zone), usages, problems), problems);
  }

  /**
   * Creates a parser of what jobs asked for.
   *
   * @param delimiter the text between two columns; null to take it from the header
   */
  public DumpText(@Nullable String delimiter, RequestRows requests, Problems problems) {
    this(delimiter, List.of(), requests, problems);
  }

  /** Creates a parser of what sacct prints with a delimiter of its own and times in UTC. */
  public static DumpText ofSacct(JobUsages usages, Problems problems) {
    return new DumpText(Delimiter.unguessable(), List.of(), ZoneOffset.UTC, usages, problems);
  }

  private DumpText(
      @Nullable String delimiter, List<String> fields, RowReader rows, Problems problems) {
    this.delimiter = delimiter;
    this.fields = List.copyOf(fields);
    this.rows = rows;
    this.problems = problems;
  }

  @Override
  public void write(int b) {
    if (b == '\n') {
      endLine();
    } else {
      bytes.write(b);
    }
  }

  @Override
  public void write(byte[] buffer, int offset, int length) {
    int from = offset;
    for (int i = offset; i < offset + length; i++) {
      if (buffer[i] == '\n') {
        bytes.write(buffer, from, i - from);
        endLine();
        from = i + 1;
      }
    }
    bytes.write(buffer, from, offset + length - from);
  }

  /**
   * Reads the last row.
   *
   * @throws NexaException if no line was a header and no fields were given
   */
  @Override
  public void close() {
    if (bytes.size() > 0) {
      endLine();
    }
    stopJoining();
    if (columns == null && before > 0) {
      throw noHeader();
    }
  }

  /** Returns the text between two columns; null if the header shows it. */
  public @Nullable String delimiter() {
    return delimiter;
  }

  /** Returns the fields of ours that a table lacked, by sacct's names. */
  List<String> lacking() {
    return rows instanceof TextRows text ? text.lacking() : List.of();
  }

  /** Returns whether a header, or a first row of the given fields, was read. */
  public boolean hasColumns() {
    return columns != null;
  }

  private void endLine() {
    line++;
    if (line == 1 && isUtf16(bytes.toByteArray())) {
      throw ErrorCode.FILE_NOT_UTF8.error(
          "the file is UTF-16, expected UTF-8",
          "PowerShell writes UTF-16 where it redirects; on Linux: iconv -f UTF-16 -t UTF-8 FILE");
    }
    String text = bytes.toString(StandardCharsets.UTF_8);
    bytes.reset();
    if (!text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK) {
      text = text.substring(1);
    }
    if (carriageReturns && text.endsWith("\r")) {
      text = text.substring(0, text.length() - 1);
    }
    DumpColumns known = columns;
    if (known == null) {
      begin(text);
    } else {
      take(known, text);
    }
  }

  /** Reads the first lines, until a header or a row of the given fields. */
  private void begin(String text) {
    if (text.isBlank()) {
      return;
    }
    String bare = text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    DumpColumns header = DumpColumns.ofHeader(bare, delimiter);
    if (header == null && fields.isEmpty()) {
      notARow(line, text);
      before++;
      if (before == MOST_BEFORE_HEADER) {
        throw noHeader();
      }
      return;
    }
    carriageReturns = text.length() > bare.length();
    if (header != null && header.size() > 1 && header.knownColumns() == 1) {
      throw foreign(header);
    }
    if (header != null) {
      use(header);
      return;
    }
    DumpColumns given = given(bare);
    use(given);
    take(given, bare);
  }

  /** Detects UTF-16 by its byte order mark, or by a zero byte in every second place. */
  private static boolean isUtf16(byte[] first) {
    String marked = "\\xFE\\xFF|\\xFF\\xFE";
    String zeros = "\\x00[^\\x00]\\x00.|[^\\x00]\\x00.\\x00";
    return new String(first, StandardCharsets.ISO_8859_1)
        .matches("(?s)(" + marked + "|" + zeros + ").*");
  }

  private DumpColumns given(String first) {
    String between = delimiter;
    for (int i = 0; between == null && i < USUAL.size(); i++) {
      int count = new DumpColumns(fields, USUAL.get(i), false).delimitersIn(first);
      if (count > 0 && (count >= fields.size() - 1)) {
        between = USUAL.get(i);
      }
    }
    String found = between == null ? "|" : between;
    DumpColumns columns = new DumpColumns(fields, found, false);
    boolean trailing =
        first.endsWith(found) && columns.delimitersIn(first) == columns.delimiters() + 1;
    return trailing ? new DumpColumns(fields, found, true) : columns;
  }

  private void use(DumpColumns next) {
    columns = next;
    rows.begin(next, line);
  }

  private void take(DumpColumns columns, String text) {
    DumpColumns next = DumpColumns.ofNextHeader(text, delimiter);
    if (next != null) {
      stopJoining();
      use(next);
      return;
    }
    if (pending.isEmpty()) {
      fresh(columns, text);
      return;
    }
    int count = columns.delimitersIn(text);
    int joined = pendingDelimiters + count;
    boolean rowOfItsOwn =
        pendingDelimiters == 0
            && count == columns.delimiters()
            && !columns.isFreeText(0)
            && speaksOfAJob(columns, text);
    if (joined > columns.delimiters() || rowOfItsOwn || pending.size() == MOST_JOINED) {
      stopJoining();
      fresh(columns, text);
      return;
    }
    pending.add(text);
    pendingDelimiters = joined;
    if (joined == columns.delimiters()) {
      String whole = String.join("\n", pending);
      if (fits(columns, whole)) {
        pending.clear();
        row(columns, whole, pendingLine);
      } else {
        stopJoining();
      }
    }
  }

  private void fresh(DumpColumns columns, String text) {
    if (text.isBlank()) {
      return;
    }
    int count = columns.delimitersIn(text);
    if (count >= columns.delimiters()) {
      row(columns, text, line);
      return;
    }
    pending.add(text);
    pendingLine = line;
    pendingDelimiters = count;
  }

  /**
   * Gives up joining: the first line is read as an incomplete job, and each further line is read as
   * a row of its own or reported.
   */
  private void stopJoining() {
    DumpColumns known = columns;
    if (pending.isEmpty() || known == null) {
      return;
    }
    List<String> lines = List.copyOf(pending);
    pending.clear();
    part(known, lines.get(0), pendingLine);
    for (int i = 1; i < lines.size(); i++) {
      String text = lines.get(i);
      if (known.delimitersIn(text) >= known.delimiters()) {
        row(known, text, pendingLine + i);
      } else if (!text.isBlank()) {
        notARow(pendingLine + i, text);
      }
    }
  }

  private void part(DumpColumns columns, String text, int number) {
    List<@Nullable String> cells = new ArrayList<>(columns.cells(text));
    if (!speaksOfAJob(columns, text) || !fits(columns, text)) {
      notARow(number, text);
      return;
    }
    int last = cells.size() - 1;
    if (!columns.isFreeText(last)) {
      // The file may have been cut in the middle of this number.
      cells.set(last, null);
    }
    problems.add(
        number,
        "the row ends after %s of %s columns: what is missing is unknown"
            .formatted(cells.size(), columns.size()));
    rows.read(cells, number);
  }

  private void row(DumpColumns columns, String text, int number) {
    List<@Nullable String> cells = new ArrayList<>(columns.cells(text));
    if (cells.size() > columns.size()) {
      List<@Nullable String> repaired = columns.repaired(columns.cells(text));
      if (repaired == null) {
        problems.add(
            number,
            "the row has %s columns, expected %s; left out: %s"
                .formatted(cells.size(), columns.size(), shortened(text)));
        return;
      }
      if (repaired.contains(null)) {
        problems.add(
            number, "the delimiter stands in more than one text: which is whose is unknown");
      }
      cells = repaired;
    }
    if (columns.speakOfAJob(cells)) {
      rows.read(cells, number);
    } else {
      notARow(number, text);
    }
  }

  private static boolean speaksOfAJob(DumpColumns columns, String text) {
    return columns.speakOfAJob(new ArrayList<>(columns.cells(text)));
  }

  private static boolean fits(DumpColumns columns, String text) {
    List<@Nullable String> cells = new ArrayList<>(columns.cells(text));
    for (int i = 0; i < cells.size(); i++) {
      String cell = cells.get(i);
      if (cell != null && cell.indexOf('\n') >= 0 && columns.isStrict(i)) {
        return false;
      }
    }
    return columns.fit(cells);
  }

  private void notARow(int number, String text) {
    problems.add(number, "not a row, left out: " + shortened(text));
  }

  private static String shortened(String text) {
    return "'" + (text.length() > 80 ? text.substring(0, 80) + "…" : text) + "'";
  }

  private static NexaException foreign(DumpColumns header) {
    String names =
        IntStream.range(0, header.size()).mapToObj(header::name).collect(Collectors.joining(", "));
    return ErrorCode.ACCOUNTING_FILE_UNUSABLE.error(
        "the header is not sacct's: of " + names + " it has only the job's id",
        "expected names that `sacct --helpformat` lists, such as " + String.join(",", FIELDS),
        "if another program wrote the header, remove it and name the columns: --fields"
            + " JobID,State,…");
  }

  private static NexaException noHeader() {
    return ErrorCode.ACCOUNTING_FILE_UNUSABLE.error(
        "the file has no header line with the column JobID",
        "save it with a header: sacct --parsable2 --duplicates --format=JobID,State,… >FILE",
        "or name them in order: --fields JobID,State,… (and --delimiter X where it is not |)",
        "sacct's output without -P cannot be read: its columns are cut to the screen's width");
  }
}
