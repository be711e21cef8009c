package dev.nexa.slurm.base.text;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Plural;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes comma-separated values (RFC 4180). */
public final class Csv {
  private final String name;
  private final String text;
  private int at;
  private int line = 1;

  private Csv(String name, String text) {
    this.name = name;
    this.text = text.startsWith("\ufeff") ? text.substring(1) : text;
  }

  /**
   * One row.
   *
   * @param line the number of its first line
   * @param values the cells by column name, in the order of the columns
   */
  public record Row(int line, Map<String, String> values) {}

  /**
   * Reads all rows. The first line names the columns. Skips empty lines and a byte order mark.
   *
   * @param name the file's name, for messages
   * @throws NexaException with {@link ExitCode#USAGE} if a quote is not closed or a row has more or
   *     fewer cells than the heading; the message names the line
   */
  public static List<Row> rows(String name, String text) {
    Csv csv = new Csv(name, text);
    List<String> heading = csv.record();
    List<Row> rows = new ArrayList<>();
    while (csv.at < csv.text.length()) {
      int begin = csv.line;
      List<String> cells = csv.record();
      if (cells.size() == 1 && cells.get(0).isEmpty()) {
        continue;
      }
      if (cells.size() != heading.size()) {
        throw csv.wrong(
            begin,
            "has %s, but the heading names %s"
                .formatted(Plural.of(cells.size(), "value"), Plural.of(heading.size(), "column")));
      }
      Map<String, String> values = new LinkedHashMap<>();
      for (int i = 0; i < cells.size(); i++) {
        values.put(heading.get(i).strip(), cells.get(i));
      }
      rows.add(new Row(begin, values));
    }
    return rows;
  }

  /** Returns the cells as one line of CSV, with a line feed at the end. */
  public static String line(List<String> cells) {
    StringBuilder line = new StringBuilder(256);
    for (int i = 0; i < cells.size(); i++) {
      line.append(i == 0 ? "" : ",").append(cell(cells.get(i)));
    }
    return line.append('\n').toString();
  }

  /**
   * Returns a CSV cell that is safe to open in a spreadsheet, quoted if necessary.
   *
   * <p>A spreadsheet runs text that begins with one of {@code = + - @} as a formula. Such text gets
   * an apostrophe before it. So does text after a semicolon, a tab or a line end, where some
   * locales begin a new cell. Numbers and a single {@code -} stay unchanged.
   */
  public static String cell(String cell) {
    // A single dash means "none" and is not a formula.
    String text = isNumber(cell) || cell.equals("-") ? cell : withoutFormulas(cell);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == ',' || c == '"' || c == ';' || c == '\t' || c == '\n' || c == '\r') {
        return '"' + text.replace("\"", "\"\"") + '"';
      }
    }
    return text;
  }

  private static boolean isNumber(String cell) {
    int digits = 0;
    boolean point = false;
    for (int i = 0; i < cell.length(); i++) {
      char c = cell.charAt(i);
      if (c >= '0' && c <= '9') {
        digits++;
      } else if (c == '.' && !point && digits > 0) {
        point = true;
      } else if (i > 0 || (c != '-' && c != '+')) {
        return false;
      }
    }
    return digits > 0;
  }

  private static String withoutFormulas(String cell) {
    StringBuilder safe = null;
    boolean begins = true;
    for (int i = 0; i < cell.length(); i++) {
      char c = cell.charAt(i);
      if (begins && (beginsFormula(c) || (i == 0 && (c == '\t' || c == '\r' || c == '\n')))) {
        safe = safe == null ? new StringBuilder(cell.length() + 8).append(cell, 0, i) : safe;
        safe.append('\'');
      }
      if (safe != null) {
        safe.append(c);
      }
      boolean separator = c == ';' || c == '\t' || c == '\n' || c == '\r';
      // A spreadsheet skips blanks and zero-width characters before a formula.
      begins = separator || (begins && (c <= ' ' || (c >= 0x7f && ignored(c))));
    }
    return safe == null ? cell : safe.toString();
  }

  /** Includes the full-width forms, which some spreadsheets treat like the ASCII characters. */
  private static boolean beginsFormula(char c) {
    return switch (c) {
      case '=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20', '\u2212' -> true;
      default -> false;
    };
  }

  private static boolean ignored(char c) {
    return Character.isWhitespace(c)
        || Character.isSpaceChar(c)
        || Character.isISOControl(c)
        || Character.getType(c) == Character.FORMAT;
  }

  private List<String> record() {
    List<String> cells = new ArrayList<>();
    cells.add(cell());
    while (at < text.length() && text.charAt(at) == ',') {
      at++;
      cells.add(cell());
    }
    if (at < text.length() && text.charAt(at) == '\r') {
      at++;
    }
    if (at < text.length() && text.charAt(at) != '\n') {
      throw wrong(line, "expected a comma or the line's end behind a value");
    }
    at++;
    line++;
    return cells;
  }

  private String cell() {
    if (at >= text.length() || text.charAt(at) != '"') {
      int begin = at;
      while (at < text.length() && ",\r\n".indexOf(text.charAt(at)) < 0) {
        at++;
      }
      return text.substring(begin, at);
    }
    StringBuilder cell = new StringBuilder();
    int begin = line;
    for (at++; ; at++) {
      if (at >= text.length()) {
        throw wrong(begin, "a quote is not closed");
      }
      char c = text.charAt(at);
      boolean quote = c == '"';
      if (quote && (at + 1 >= text.length() || text.charAt(at + 1) != '"')) {
        at++;
        return cell.toString();
      }
      at += quote ? 1 : 0;
      line += c == '\n' ? 1 : 0;
      cell.append(c);
    }
  }

  private NexaException wrong(int where, String message) {
    return ErrorCode.BILL_UNREADABLE.error(name + ":" + where + ": " + message);
  }
}
