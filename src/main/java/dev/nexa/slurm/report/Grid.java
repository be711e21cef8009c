package dev.nexa.slurm.report;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Rows under columns, for people, for spreadsheets and for pages. An empty cell is unknown. Cells
 * hold what JSON holds under the column's name, and CSV gives them as they are. The name tells the
 * unit, and people read {@code _ratio} 0.0265 as 2.6 %, {@code _seconds} 3600 as 01:00:00 and
 * {@code _hours} with two decimals.
 */
public final class Grid {
  private final List<String> columns;
  private final List<List<String>> rows = new ArrayList<>();

  /** Columns by their names in CSV, which are the keys of JSON, such as {@code gpu_hours}. */
  public Grid(List<String> columns) {
    this.columns = List.copyOf(columns);
  }

  public Grid row(List<String> cells) {
    if (cells.size() != columns.size()) {
      throw new IllegalArgumentException(cells.size() + " cells for " + columns.size());
    }
    rows.add(List.copyOf(cells));
    return this;
  }

  /** The same without the columns in which nothing but a zero or nothing stands. */
  public Grid without(List<String> ifEmpty) {
    List<Integer> kept = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      if (!ifEmpty.contains(columns.get(i)) || holdsSomething(i)) {
        kept.add(i);
      }
    }
    Grid grid = new Grid(kept.stream().map(columns::get).toList());
    rows.forEach(row -> grid.row(kept.stream().map(row::get).toList()));
    return grid;
  }

  private boolean holdsSomething(int column) {
    for (List<String> row : rows) {
      if (!row.get(column).matches("[0.]*")) {
        return true;
      }
    }
    return false;
  }

  /** In columns as wide as they need to be. */
  public String table() {
    Table table = new Table(heads().toArray(new String[0]));
    for (List<String> row : rows) {
      table.row(read(row).stream().map(cell -> cell.isEmpty() ? "-" : cell).toArray());
    }
    return table.toString();
  }

  /** {@code of_reserved_ratio_p50} is OF RESERVED P50: the cells tell the unit. */
  private List<String> heads() {
    return columns.stream()
        .map(name -> ours(name) ? name.replace("_ratio", "").replace("_seconds", "") : name)
        .map(name -> name.toUpperCase(Locale.ROOT).replace('_', ' '))
        .toList();
  }

  /** A row as people read it. */
  private List<String> read(List<String> row) {
    List<String> cells = new ArrayList<>();
    for (int i = 0; i < row.size(); i++) {
      cells.add(row.get(i).isEmpty() ? "" : read(columns.get(i), row.get(i)));
    }
    return cells;
  }

  /** A tag that a person groups by may be called as they like. */
  private static boolean ours(String column) {
    return column.indexOf(':') < 0;
  }

  private static String read(String column, String cell) {
    if (!ours(column)) {
      return cell;
    }
    if (column.contains("_ratio")) {
      return new BigDecimal(cell).movePointRight(2).setScale(1, RoundingMode.HALF_EVEN) + " %";
    }
    if (column.contains("_seconds")) {
      return StatusText.clock(Duration.ofSeconds(Long.parseLong(cell)));
    }
    return column.endsWith("_hours")
        ? new BigDecimal(cell).setScale(2, RoundingMode.HALF_EVEN).toPlainString()
        : cell;
  }

  /** As RFC 4180 has it, with line feeds. */
  public String csv() {
    StringBuilder text = new StringBuilder(csvLine(columns));
    rows.forEach(row -> text.append(csvLine(row)));
    return text.toString();
  }

  static String csvLine(List<String> cells) {
    StringBuilder line = new StringBuilder(256);
    for (int i = 0; i < cells.size(); i++) {
      line.append(i == 0 ? "" : ",").append(csvCell(cells.get(i)));
    }
    return line.append('\n').toString();
  }

  /** The cell in quotes where it has to be. */
  static String csvCell(String cell) {
    for (int i = 0; i < cell.length(); i++) {
      char c = cell.charAt(i);
      if (c == ',' || c == '"' || c == '\n' || c == '\r') {
        return '"' + cell.replace("\"", "\"\"") + '"';
      }
    }
    return cell;
  }

  /** A table of Markdown, for people too. */
  public String markdown() {
    StringBuilder text = new StringBuilder(markdownLine(heads()));
    text.append("|").append("---|".repeat(columns.size())).append('\n');
    rows.forEach(row -> text.append(markdownLine(read(row))));
    return text.toString();
  }

  private static String markdownLine(List<String> cells) {
    StringBuilder line = new StringBuilder("|");
    for (String cell : cells) {
      line.append(' ').append(cell.replace("|", "\\|").replace('\n', ' ')).append(" |");
    }
    return line.append('\n').toString();
  }
}
