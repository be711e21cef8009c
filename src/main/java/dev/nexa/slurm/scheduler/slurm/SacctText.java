package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.units.IndexRange;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

  private static final Pattern JOB_ID =
      Pattern.compile("(\\d+)(?:_(?:(\\d+)|\\[([^\\]]*)\\])|\\+\\d+)?");

  private final Consumer<AccountingRecord> rows;
  private final Consumer<String> unreadable;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(512);
  private int delimiters;

  /**
   * A reader.
   *
   * @param rows told of each allocation row
   * @param unreadable told of each row that is none
   */
  public SacctText(Consumer<AccountingRecord> rows, Consumer<String> unreadable) {
    this.rows = rows;
    this.unreadable = unreadable;
  }

  @Override
  public void write(int b) {
    if (b == DELIMITER) {
      delimiters++;
    }
    boolean complete = b == '\n' && (delimiters == 0 || delimiters >= FIELDS.size() - 1);
    if (!complete) {
      line.write(b);
      return;
    }
    endLine();
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      write(bytes[i]);
    }
  }

  @Override
  public void close() {
    endLine();
  }

  private void endLine() {
    String text = line.toString(StandardCharsets.UTF_8);
    line.reset();
    delimiters = 0;
    if (text.isBlank()) {
      return;
    }
    Optional<AccountingRecord> row = parse(text);
    if (row.isPresent()) {
      rows.accept(row.get());
    } else {
      unreadable.accept(text);
    }
  }

  private static Optional<AccountingRecord> parse(String text) {
    String[] field = text.split(String.valueOf(DELIMITER), -1);
    if (field.length != FIELDS.size()) {
      return Optional.empty();
    }
    Matcher id = JOB_ID.matcher(field[1]);
    if (!id.matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new AccountingRecord(
              field[2],
              Long.parseLong(id.group(1)),
              Long.parseLong(field[0]),
              tasks(id),
              field[3],
              field[4],
              field[5],
              JobState.parse(field[6]),
              field[6],
              field[7],
              time(field[8]).orElse(Instant.EPOCH),
              time(field[9]),
              time(field[10]),
              field[11].isEmpty() ? 0 : Math.max(0, Long.parseLong(field[11])),
              field[13],
              field[12].isEmpty() ? 0 : Integer.parseInt(field[12]),
              field[14],
              field[17],
              field[16],
              field[15],
              AccountingRecord.Witness.ACCOUNTING));
    } catch (IllegalArgumentException notAnAllocationRow) {
      return Optional.empty();
    }
  }

  private static IndexRange tasks(Matcher id) {
    if (id.group(2) != null) {
      return IndexRange.parse(id.group(2));
    }
    return id.group(3) != null ? IndexRange.parse(id.group(3)) : IndexRange.upTo(0);
  }

  /** Epoch seconds; {@code Unknown}, {@code None}, zero and the NO_VAL numbers are no time. */
  private static Optional<Instant> time(String text) {
    if (text.isEmpty() || !Character.isDigit(text.charAt(0))) {
      return Optional.empty();
    }
    long seconds = Long.parseLong(text);
    return seconds == 0 || seconds >= 4_294_967_294L
        ? Optional.empty()
        : Optional.of(Instant.ofEpochSecond(seconds));
  }
}
