package dev.nexa.slurm.base.text;

import java.util.List;
import java.util.stream.Collectors;

/** Escapes text for Markdown. */
public final class Markdown {
  /** The most characters of a table in a comment of a pull request; GitHub takes 65,536 in all. */
  static final int LONGEST_TABLE = 55_000;

  private Markdown() {}

  /** Returns the cells as one line of a Markdown table. */
  static String line(List<String> cells) {
    return cells.stream()
        .map(cell -> " " + text(cell) + " |")
        .collect(Collectors.joining("", "|", "\n"));
  }

  /**
   * Escapes text for one line of Markdown, so that no HTML, link, code or table cell begins in it.
   */
  public static String text(String text) {
    StringBuilder shown = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '<' -> shown.append("&lt;");
        case '>' -> shown.append("&gt;");
        case '&' -> shown.append("&amp;");
        case '\\', '`', '*', '~', '$', '[', ']', '|' -> shown.append('\\').append(c);
        case '_' -> shown.append(withinWord(text, i) ? "_" : "\\_");
        // GitHub and others turn bare addresses into links.
        case ':' -> shown.append(text.startsWith("://", i) ? "&#58;" : ":");
        case 'w', 'W' ->
            shown.append(c).append(text.regionMatches(true, i, "www.", 0, 4) ? "&#8203;" : "");
        case '\n', '\r', '\t', '\u2028', '\u2029' -> shown.append(' ');
        default -> shown.append(VisibleText.isControl(c) ? text(VisibleText.of(c)) : "" + c);
      }
    }
    return shown.toString();
  }

  private static boolean withinWord(String text, int at) {
    return at > 0
        && at + 1 < text.length()
        && Character.isLetterOrDigit(text.charAt(at - 1))
        && Character.isLetterOrDigit(text.charAt(at + 1));
  }
}
