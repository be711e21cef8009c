package dev.nexa.slurm.costs;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Comma-separated values as RFC 4180 has them, with a heading. */
final class Csv {
  private final String name;
  private final String text;
  private int at;
  private int line = 1;

  private Csv(String name, String text) {
    this.name = name;
    this.text = text.startsWith("\ufeff") ? text.substring(1) : text;
  }

  /**
   * A row.
   *
   * @param line on which it begins
   * @param values by column
   */
  record Row(int line, Map<String, String> values) {}

  /** The rows; the first line names the columns. */
  static List<Row> rows(String name, String text) {
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
            begin, "has " + cells.size() + " values, and the heading " + heading.size());
      }
      Map<String, String> values = new LinkedHashMap<>();
      for (int i = 0; i < cells.size(); i++) {
        values.put(heading.get(i).strip(), cells.get(i));
      }
      rows.add(new Row(begin, values));
    }
    return rows;
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
    return new NexaException(ExitCode.USAGE, name + ":" + where + ": " + message);
  }
}
