package dev.nexa.slurm.base.text;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Rows under their columns: prints them as a text table, CSV, Markdown or JSON. */
public final class Listing<R> {
  private final Columns<R> columns;
  private final List<R> rows;

  Listing(Columns<R> columns, List<R> rows) {
    this.columns = columns;
    this.rows = rows;
  }

  /** Returns a copy without the rare columns that hold only zeros or unknown values. */
  public Listing<R> withoutRare() {
    List<Column<R>> kept = new ArrayList<>();
    for (Column<R> column : columns.list()) {
      if (!column.rare() || holdsSomething(column)) {
        kept.add(column);
      }
    }
    return new Listing<>(columns.keep(kept), rows);
  }

  /** Returns whether each row fits into one line; a sentence in the last column may wrap. */
  public boolean fits(TableStyle style) {
    return style.isPlain() || width() <= style.width();
  }

  private int width() {
    int width = 0;
    List<List<String>> lines = lines();
    int count = columns.list().size();
    int inLine = count > 1 && columns.list().get(count - 1).isNote() ? count - 1 : count;
    for (int i = 0; i < inLine; i++) {
      int widest = 0;
      for (List<String> line : lines) {
        widest = Math.max(widest, line.get(i).length());
      }
      width += widest + (i == 0 ? 0 : 2);
    }
    return width;
  }

  private boolean holdsSomething(Column<R> column) {
    for (R row : rows) {
      if (!column.plain(row).matches("[0.]*|-")) {
        return true;
      }
    }
    return false;
  }

  /** Returns a text table of this style. A value that is not known is printed as {@code -}. */
  public String table(TableStyle style) {
    return style.isPlain() ? table() : new NarrowTable(columns.list(), lines(), style).text();
  }

  private List<List<String>> lines() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(headings());
    for (R row : rows) {
      List<String> cells = new ArrayList<>();
      for (Column<R> column : columns.list()) {
        cells.add(column.cell(row));
      }
      lines.add(cells);
    }
    return lines;
  }

  /** Returns a text table with one line for each row, however long. */
  public String table() {
    // Loops instead of lambdas: status prints a table, and each lambda would make it slower.
    List<List<String>> lines = lines();
    List<Boolean> right = new ArrayList<>();
    for (Column<R> column : columns.list()) {
      right.add(column.right());
    }
    TextTable table = new TextTable(right);
    for (List<String> line : lines) {
      table.measure(line);
    }
    StringBuilder text = new StringBuilder();
    for (List<String> line : lines) {
      text.append(table.line(line));
    }
    return text.toString();
  }

  private List<String> headings() {
    List<String> headings = new ArrayList<>();
    for (Column<R> column : columns.list()) {
      headings.add(column.heading());
    }
    return headings;
  }

  /** Returns CSV (RFC 4180), with line feeds as line ends. */
  public String csv() {
    StringBuilder text = new StringBuilder(Csv.line(each(Column::name)));
    rows.forEach(row -> text.append(Csv.line(each(column -> column.plain(row)))));
    return text.toString();
  }

  /** Returns a Markdown table. */
  public String markdown() {
    StringBuilder text = new StringBuilder(Markdown.line(headings())).append('|');
    columns.list().forEach(column -> text.append(column.right() ? "--:|" : "---|"));
    text.append('\n');
    rows.forEach(row -> text.append(Markdown.line(each(column -> column.shown(row)))));
    return text.toString();
  }

  /**
   * Returns a Markdown table for a comment of a pull request. On GitHub, a comment holds 65,536
   * characters. The table has as many rows as fit into part of that, and a line that counts the
   * other rows.
   */
  public String commentTable() {
    String all = markdown();
    if (all.length() <= Markdown.LONGEST_TABLE) {
      return all;
    }
    int end = all.lastIndexOf('\n', Markdown.LONGEST_TABLE) + 1;
    long shown = all.substring(0, end).lines().count() - 2;
    return all.substring(0, end)
        + "\n"
        + (rows.size() - shown)
        + " more rows are left out: the table would be too long for a comment.\n";
  }

  private List<String> each(Function<Column<R>, String> cell) {
    return columns.list().stream().map(cell).toList();
  }

  /** Returns a JSON object for each row. */
  public List<JsonObject> json() {
    List<JsonObject> objects = new ArrayList<>();
    rows.forEach(row -> objects.add(columns.addTo(new JsonObject(), row)));
    return objects;
  }
}
