package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.json.Utf8Pool;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.CRC32;

/** Finds the lines of a ledger file whose CRC-32 is right. */
final class LedgerScan {
  private static final byte[] RUN_ID = "{\"run_id\":\"".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] VERSION = "\",\"version\":".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CRC_KEY = ",\"crc32\":\"".getBytes(StandardCharsets.US_ASCII);

  /** Length of {@code ,"crc32":"01234567"}} at the end of each line. */
  private static final int SEAL = CRC_KEY.length + 10;

  private final byte[] bytes;
  private final String file;
  private final String month;
  private final Utf8Pool words;
  private final List<String> problems;
  private final CRC32 crc = new CRC32();

  /**
   * Creates a scan of a file's bytes.
   *
   * @param file the file's name for messages
   * @param month the file's month
   * @param words pool of repeated words
   * @param problems receives a sentence for each line that is not counted
   */
  LedgerScan(byte[] bytes, String file, String month, Utf8Pool words, List<String> problems) {
    this.bytes = bytes;
    this.file = file;
    this.month = month;
    this.words = words;
    this.problems = problems;
  }

  /**
   * Passes the complete lines to the consumer, last line first. A last line without its line feed
   * is ignored: it is being written, or was cut short.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if a newer nexa-slurm wrote a line; sums
   *     without it would be too low
   */
  void scan(Consumer<LedgerLine> told) {
    scan(new byte[0], told);
  }

  /**
   * Passes the complete lines with this prefix to the consumer, last line first. Other lines are
   * not checked.
   */
  void scan(byte[] prefix, Consumer<LedgerLine> told) {
    byte[] text = bytes;
    int[] begins = new int[1 << 12];
    int count = 0;
    for (int i = 0; i < text.length; i++) {
      if (text[i] == '\n') {
        if (count + 1 == begins.length) {
          begins = Arrays.copyOf(begins, begins.length * 2);
        }
        begins[++count] = i + 1;
      }
    }
    for (int i = count - 1; i >= 0; i--) {
      if (begins(prefix, begins[i], begins[i + 1])) {
        line(begins[i], begins[i + 1] - 1, i + 1, told);
      }
    }
  }

  /**
   * Records each run's highest version above 1. Lines with version 1, which are nearly all, are
   * skipped quickly.
   */
  void corrections(Map<String, Long> highest) {
    byte[] text = bytes;
    int begin = 0;
    for (int i = 0; i < text.length; i++) {
      if (text[i] == '\n') {
        correction(begin, i, highest);
        begin = i + 1;
      }
    }
  }

  private void correction(int begin, int feed, Map<String, Long> highest) {
    int id = begin + RUN_ID.length;
    int at = id;
    while (at < feed && bytes[at] != '"') {
      at++;
    }
    int digits = at + VERSION.length;
    boolean told = digits + 1 < feed && isAt(begin, RUN_ID) && isAt(at, VERSION);
    boolean first = told && bytes[digits] == '1' && bytes[digits + 1] == ',';
    if (!told || first || !isSealed(begin, feed)) {
      return;
    }
    long version = 0;
    for (int i = digits; bytes[i] >= '0' && bytes[i] <= '9'; i++) {
      version = version * 10 + bytes[i] - '0';
    }
    highest.merge(new String(bytes, id, at - id, StandardCharsets.US_ASCII), version, Math::max);
  }

  private boolean isAt(int at, byte[] written) {
    return Arrays.equals(bytes, at, at + written.length, written, 0, written.length);
  }

  private boolean begins(byte[] prefix, int from, int to) {
    return prefix.length == 0
        || Arrays.equals(bytes, from, Math.min(to, from + prefix.length), prefix, 0, prefix.length);
  }

  private void line(int begin, int feed, int number, Consumer<LedgerLine> told) {
    if (!isSealed(begin, feed)) {
      problems.add(
          ("%s:%s: this line is damaged (its CRC does not match), and its run is missing in the"
                  + " sums; `nexa-slurm audit --repair` writes it again from the run's cost file")
              .formatted(file, number));
      return;
    }
    LedgerLine run;
    try {
      run = new LedgerLine(bytes, begin, month, words);
    } catch (IllegalArgumentException broken) {
      problems.add(file + ":" + number + ": " + broken.getMessage() + "; it is not counted");
      return;
    }
    SchemaVersion.require(run.schemaVersion(), file + ":" + number, LedgerLine.NEWEST);
    told.accept(run);
  }

  /** Returns whether the line ends with the CRC-32 of the bytes before it. */
  private boolean isSealed(int begin, int feed) {
    int seal = feed - SEAL;
    if (seal < begin || !isAt(seal, CRC_KEY)) {
      return false;
    }
    crc.reset();
    crc.update(bytes, begin, seal - begin);
    crc.update('}');
    long written = 0;
    for (int i = seal + CRC_KEY.length; i < feed - 2; i++) {
      written = written << 4 | Character.digit(bytes[i], 16);
    }
    return crc.getValue() == written && bytes[feed - 2] == '"' && bytes[feed - 1] == '}';
  }
}
