package dev.nexa.slurm.config;

import java.util.ArrayList;
import java.util.List;

/**
 * Text cut into words as a POSIX shell cuts it (2.2, Quoting): quotes and backslashes are obeyed
 * and removed, nothing is expanded.
 */
final class ShellWords {
  private final String text;
  private final List<String> words = new ArrayList<>();
  private final StringBuilder word = new StringBuilder();
  private boolean begun;
  private char quote;

  private ShellWords(String text) {
    this.text = text;
  }

  /**
   * The words.
   *
   * @throws IllegalArgumentException if a quote is open at the end
   */
  static List<String> of(String text) {
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

  /** Reads a character, or a backslash and what it escapes; returns the place of the last. */
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
