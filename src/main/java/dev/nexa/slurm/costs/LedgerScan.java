package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.RepeatedText;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.CRC32;

/**
 * Reads the lines of one ledger file from its bytes, those whose CRC-32 says that they are whole.
 */
final class LedgerScan {
  private static final byte[] RUN_ID = "{\"run_id\":\"".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] VERSION = "\",\"version\":".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CRC_KEY = ",\"crc32\":\"".getBytes(StandardCharsets.US_ASCII);

  /** {@code ,"crc32":"01234567"}} at the end of each line. */
  private static final int SEAL = CRC_KEY.length + 10;

  private final byte[] bytes;
  private final String file;
  private final String month;
  private final RepeatedText words;
  private final List<String> problems;
  private final CRC32 crc = new CRC32();

  /**
   * Reader of a file.
   *
   * @param file as it is told to people
   * @param problems told of lines that are not counted
   */
  LedgerScan(byte[] bytes, String file, String month, RepeatedText words, List<String> problems) {
    this.bytes = bytes;
    this.file = file;
    this.month = month;
    this.words = words;
    this.problems = problems;
  }

  /** Tells the whole lines, last one first; one without its line feed is being written, or torn. */
  void scan(Consumer<RunLine> told) {
    scan(new byte[0], told);
  }

  /** The same of lines that begin like that; others are not even checked. */
  void scan(byte[] prefix, Consumer<RunLine> told) {
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
   * Notes each run's highest version above 1, of which there are few: what most lines say of their
   * version is passed over.
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

  private void line(int begin, int feed, int number, Consumer<RunLine> told) {
    if (!isSealed(begin, feed)) {
      problems.add(
          file + ":" + number + ": its CRC does not match: it was damaged, and is not counted");
      return;
    }
    RunLine run;
    try {
      run = new RunLine(bytes, begin, month, words);
    } catch (IllegalArgumentException broken) {
      problems.add(file + ":" + number + ": " + broken.getMessage() + "; it is not counted");
      return;
    }
    told.accept(run);
  }

  /** Whether the line ends in the CRC-32 of what stands before it. */
  private boolean isSealed(int begin, int feed) {
    int seal = feed - SEAL;
    if (seal < begin) {
      return false;
    }
    for (int i = 0; i < CRC_KEY.length; i++) {
      if (bytes[seal + i] != CRC_KEY[i]) {
        return false;
      }
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
