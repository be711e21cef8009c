package dev.nexa.slurm.report;

import java.util.ArrayList;
import java.util.List;

/** Text in columns, as wide as they need to be; the last one is never padded. */
public final class Table {
  private final List<List<String>> rows = new ArrayList<>();

  public Table(String... heading) {
    rows.add(List.of(heading));
  }

  public Table row(Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(String.valueOf(cell));
    }
    rows.add(row);
    return this;
  }

  @Override
  public String toString() {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        line.append(row.get(i));
        if (i + 1 < columns) {
          line.append(" ".repeat(widths[i] - row.get(i).length() + 2));
        }
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
