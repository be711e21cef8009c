package dev.nexa.slurm.job.config.yaml;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits text into words as a POSIX shell does (POSIX Shell Command Language, 2.2 Quoting). Quotes
 * and backslashes are interpreted and removed. There are no expansions.
 */
public final class ShellWords {
  private final String text;
  private final List<String> words = new ArrayList<>();
  private final StringBuilder word = new StringBuilder();
  private boolean begun;
  private char quote;

  private ShellWords(String text) {
    this.text = text;
  }

  /**
   * Returns the words.
   *
   * @throws IllegalArgumentException if a quote is not closed
   */
  public static List<String> of(String text) {
    ShellWords cut = new ShellWords(text);
    for (int i = 0; i < text.length(); i++) {
      i = cut.read(i);
    }
    if (cut.quote != 0) {
      throw new IllegalArgumentException("a quote " + cut.quote + " is not closed in: " + text);
    }
    cut.end();
    return cut.words;
  }

  /**
   * Reads a character, or a backslash and the character that it escapes. Returns the index of the
   * last one read.
   */
  private int read(int at) {
    char c = text.charAt(at);
    boolean escapes = c == '\\' && quote != '\'' && at + 1 < text.length();
    if (escapes && (quote == 0 || "$`\"\\".indexOf(text.charAt(at + 1)) >= 0)) {
      add(text.charAt(at + 1));
      return at + 1;
    }
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      begun = true;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      end();
    } else {
      add(c);
    }
    return at;
  }

  private void add(char c) {
    word.append(c);
    begun = true;
  }

  private void end() {
    if (begun) {
      words.add(word.toString());
    }
    word.setLength(0);
    begun = false;
  }
}
