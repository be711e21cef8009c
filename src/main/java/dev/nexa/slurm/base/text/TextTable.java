package dev.nexa.slurm.base.text;

import java.util.Arrays;
import java.util.List;

/**
 * The lines of a text table whose columns are as wide as their longest cell. Every line is measured
 * before the first one is printed. Lines have no trailing blanks.
 */
public final class TextTable {
  private final List<Boolean> right;
  private final int[] widths;

  /**
   * Creates a table.
   *
   * @param right whether the cells of each column are aligned right, as numbers are
   */
  public TextTable(List<Boolean> right) {
    this.right = List.copyOf(right);
    this.widths = new int[right.size()];
  }

  /** Makes the columns wide enough for this line. */
  public void measure(List<String> cells) {
    for (int i = 0; i < widths.length; i++) {
      widths[i] = Math.max(widths[i], cells.get(i).length());
    }
  }

  /** Returns the length of the longest line. */
  public int width() {
    return Arrays.stream(widths).sum() + 2 * Math.max(0, widths.length - 1);
  }

  /** Returns the line, with a line feed at the end. */
  public String line(List<String> cells) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String blanks = " ".repeat(widths[i] - cells.get(i).length());
      line.append(i == 0 ? "" : "  ");
      line.append(right.get(i) ? blanks + cells.get(i) : cells.get(i) + blanks);
    }
    return line.toString().stripTrailing() + "\n";
  }
}
