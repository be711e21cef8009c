package dev.nexa.slurm.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Rows under columns, for people, for spreadsheets and for pages. An empty cell is unknown. */
public final class Grid {
  private final List<String> columns;
  private final List<List<String>> rows = new ArrayList<>();

  /** Columns by their names in CSV, such as {@code gpu_hours}. */
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
    Table table =
        new Table(
            columns.stream()
                .map(name -> name.toUpperCase(Locale.ROOT).replace('_', ' '))
                .toArray(String[]::new));
    for (List<String> row : rows) {
      table.row(row.stream().map(cell -> cell.isEmpty() ? "-" : cell).toArray());
    }
    return table.toString();
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
      String cell = cells.get(i);
      boolean quoted =
          cell.indexOf(',') >= 0
              || cell.indexOf('"') >= 0
              || cell.indexOf('\n') >= 0
              || cell.indexOf('\r') >= 0;
      line.append(i == 0 ? "" : ",");
      line.append(quoted ? '"' + cell.replace("\"", "\"\"") + '"' : cell);
    }
    return line.append('\n').toString();
  }

  /** A table of Markdown. */
  public String markdown() {
    StringBuilder text = new StringBuilder(markdownLine(columns));
    text.append("|").append("---|".repeat(columns.size())).append('\n');
    rows.forEach(row -> text.append(markdownLine(row)));
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
