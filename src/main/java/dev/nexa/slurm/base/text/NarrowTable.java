package dev.nexa.slurm.base.text;

import dev.nexa.slurm.base.text.Columns.Column;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Lays a table out for a terminal. A table that is too wide keeps its first columns in line; the
 * values of the others follow each row on indented lines, with their headings. A long sentence in
 * the last column wraps below its column, or follows on indented lines, too. Nothing is cut.
 */
final class NarrowTable {
  private static final String INDENT = "    ";

  /** A sentence in a narrower column is hard to read. */
  private static final int NARROWEST_NOTE = 24;

  private final List<? extends Column<?>> columns;
  private final List<List<String>> lines;
  private final TableStyle style;
  private final int[] widths;

  /**
   * Makes a layout.
   *
   * @param lines the headings, then the cells of each row
   */
  NarrowTable(List<? extends Column<?>> columns, List<List<String>> lines, TableStyle style) {
    this.columns = columns;
    this.lines = lines;
    this.style = style;
    this.widths = new int[columns.size()];
    for (List<String> line : lines) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
  }

  /** Returns the table's text. */
  String text() {
    int all = columns.size();
    int inLine = inLine(all);
    boolean note = all > 1 && columns.get(all - 1).isNote();
    // The note begins after the other columns and two blanks.
    int left = note && inLine >= all - 1 ? style.width() - begin(all - 1) : 0;
    boolean wraps = inLine < all && left >= NARROWEST_NOTE;
    StringBuilder text = new StringBuilder();
    for (int row = 0; row < lines.size(); row++) {
      List<String> line = lines.get(row);
      if (inLine == all) {
        text.append(padded(line, all, row > 0)).append('\n');
      } else if (wraps) {
        note(text, line, row > 0, left);
      } else {
        text.append(padded(line, inLine, row > 0)).append('\n');
        if (row > 0) {
          rest(text, line, inLine, note);
        }
      }
    }
    return text.toString();
  }

  /** Returns how many columns fit into a line; one at least. */
  private int inLine(int all) {
    int fitting = 0;
    while (fitting < all && begin(fitting) + widths[fitting] <= style.width()) {
      fitting++;
    }
    return Math.max(1, fitting);
  }

  /** Returns where a column begins. */
  private int begin(int column) {
    return Arrays.stream(widths, 0, column).sum() + 2 * column;
  }

  private void note(StringBuilder text, List<String> line, boolean coloured, int left) {
    int last = columns.size() - 1;
    String before = padded(line, last, coloured);
    List<String> parts = wrapped(words(line.get(last)), left);
    if (parts.isEmpty()) {
      text.append(before).append('\n');
      return;
    }
    int printed = last == 0 ? 0 : plainLength(line, last);
    text.append(before).append(" ".repeat(begin(last) - printed)).append(parts.get(0)).append('\n');
    for (String part : parts.subList(1, parts.size())) {
      text.append(" ".repeat(begin(last))).append(part).append('\n');
    }
  }

  /**
   * Adds the columns that do not fit, with their headings; values that are not known are left out.
   */
  private void rest(StringBuilder text, List<String> line, int from, boolean note) {
    int last = note ? columns.size() - 1 : columns.size();
    List<String> words = new ArrayList<>();
    for (int i = from; i < last; i++) {
      if (!line.get(i).equals("-")) {
        words.add(lines.get(0).get(i).toLowerCase(java.util.Locale.ROOT) + " " + line.get(i));
      }
    }
    words.subList(0, Math.max(0, words.size() - 1)).replaceAll(word -> word + ",");
    int width = style.width() - INDENT.length();
    List<String> parts = wrapped(words, width);
    if (note) {
      parts.addAll(wrapped(words(line.get(last)), width));
    }
    parts.forEach(part -> text.append(INDENT).append(part).append('\n'));
  }

  /** Returns the first cells side by side, without trailing blanks. */
  private String padded(List<String> line, int count, boolean coloured) {
    StringBuilder text = new StringBuilder();
    int blanks = 0;
    for (int i = 0; i < count; i++) {
      String cell = line.get(i);
      int pad = widths[i] - cell.length();
      boolean right = columns.get(i).right();
      blanks += right ? pad : 0;
      if (!cell.isEmpty()) {
        text.append(" ".repeat(blanks));
        blanks = 0;
        boolean colour = coloured && style.colours() && columns.get(i).isState();
        text.append(colour ? TableStyle.coloured(cell) : cell);
      }
      blanks += (right ? 0 : pad) + 2;
    }
    return text.toString();
  }

  /** Returns how many characters {@link #padded} shows of the first cells. */
  private int plainLength(List<String> line, int count) {
    int length = 0;
    for (int i = 0; i < count; i++) {
      if (!line.get(i).isEmpty()) {
        length = begin(i) + (columns.get(i).right() ? widths[i] : line.get(i).length());
      }
    }
    return length;
  }

  private static List<String> words(String sentence) {
    return List.of(sentence.strip().split("\\s+", -1));
  }

  /** Returns the lines of some words. A word that is too long has a line of its own. */
  private static List<String> wrapped(List<String> words, int width) {
    List<String> parts = new ArrayList<>();
    StringBuilder part = new StringBuilder();
    for (String word : words) {
      if (part.length() > 0 && part.length() + 1 + word.length() > width) {
        parts.add(part.toString());
        part.setLength(0);
      }
      part.append(part.length() == 0 ? "" : " ").append(word);
    }
    if (part.length() > 0) {
      parts.add(part.toString());
    }
    return parts;
  }
}
