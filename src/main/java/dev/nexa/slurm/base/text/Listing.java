package dev.nexa.slurm.base.text;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns.Column;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
    Stream<Column<R>> all = columns.list().stream();
    List<Column<R>> kept = all.filter(one -> !one.rare() || holdsSomething(one)).toList();
    return new Listing<>(new Columns<>(kept), rows);
  }

  /** Returns whether each row fits into one line; a sentence in the last column may wrap. */
  public boolean fits(TableStyle style) {
    return style.isPlain() || width() <= style.width();
  }

  private int width() {
    int count = columns.list().size();
    boolean note = count > 1 && columns.list().get(count - 1).isNote();
    return measured(lines(), note ? count - 1 : count).width();
  }

  private boolean holdsSomething(Column<R> column) {
    return rows.stream().anyMatch(row -> !column.plain(row).matches("[0.]*|-"));
  }

  /** Returns a text table of this style. A value that is not known is printed as {@code -}. */
  public String table(TableStyle style) {
    return style.isPlain() ? table() : new NarrowTable(columns.list(), lines(), style).text();
  }

  private List<List<String>> lines() {
    Stream<List<String>> cells = rows.stream().map(row -> each(column -> column.cell(row)));
    return Stream.concat(Stream.of(each(Column::heading)), cells).toList();
  }

  /** Returns a text table with one line for each row, however long. */
  public String table() {
    List<List<String>> lines = lines();
    TextTable table = measured(lines, columns.list().size());
    return lines.stream().map(table::line).collect(Collectors.joining());
  }

  /** Returns a table of the first columns that all lines fit into. */
  private TextTable measured(List<List<String>> lines, int count) {
    TextTable table =
        new TextTable(columns.list().stream().limit(count).map(Column::right).toList());
    lines.forEach(table::measure);
    return table;
  }

  /** Returns CSV (RFC 4180), with line feeds as line ends. */
  public String csv() {
    StringBuilder text = new StringBuilder(Csv.line(each(Column::name)));
    rows.forEach(row -> text.append(Csv.line(each(column -> column.plain(row)))));
    return text.toString();
  }

  /** Returns a Markdown table. */
  public String markdown() {
    StringBuilder text = new StringBuilder(Markdown.line(each(Column::heading))).append('|');
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
        + "\n%s more rows are left out: the table would be too long for a comment.\n"
            .formatted(rows.size() - shown);
  }

  private List<String> each(Function<Column<R>, String> cell) {
    return columns.list().stream().map(cell).toList();
  }

  /** Returns a JSON object for each row. */
  public List<JsonObject> json() {
    return rows.stream().map(row -> columns.addTo(new JsonObject(), row)).toList();
  }
}
