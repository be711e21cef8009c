package dev.nexa.slurm.scheduler.local;

import java.util.ArrayList;
import java.util.List;

/**
 * The words of a script's {@code #SBATCH} lines, cut as sbatch cuts them ({@code
 * _opt_batch_script}, {@code get_argument} and {@code next_line} in Slurm 22.05's
 * src/sbatch/opt.c). It is not a shell: a backslash also escapes inside single quotes, an unquoted
 * one before a space ends the word, {@code #} starts a comment in the middle of a word, and nothing
 * is expanded. Pure.
 */
final class Directives {
  private static final List<String> MAGIC = List.of("#SBATCH", "#SLURM");

  private final String file;
  private final List<String> words = new ArrayList<>();

  private Directives(String file) {
    this.file = file;
  }

  /**
   * All words in their order; options and their values alike.
   *
   * @param file the script's name, for sbatch's messages
   * @throws Refusal where sbatch would have ended
   */
  static List<String> words(String file, String script) {
    Directives directives = new Directives(file);
    int number = 0;
    for (String line : script.split("\n", -1)) {
      number++;
      if (!directives.read(line, number)) {
        break;
      }
    }
    return directives.words;
  }

  /** False at the first line that is a command: below it, directives are plain comments. */
  private boolean read(String line, int number) {
    for (String magic : MAGIC) {
      if (line.startsWith(magic)) {
        cut(line.substring(magic.length()), number);
        return true;
      }
    }
    int start = 0;
    while (start < line.length() && isSpace(line.charAt(start))) {
      start++;
    }
    return start == line.length() || line.charAt(start) == '#';
  }

  private void cut(String line, int number) {
    Cursor cursor = new Cursor(line);
    while (cursor.skipSpace()) {
      String rest = line.substring(cursor.at);
      if (rest.charAt(0) == ':') {
        throw fatal(number, "Unexpected `:` in [" + rest + "]");
      }
      StringBuilder word = new StringBuilder();
      boolean any = cursor.word(word);
      if (cursor.quote != 0) {
        throw fatal(number, "Unmatched `" + cursor.quote + "` in [" + rest + "]");
      }
      if (!any) {
        return;
      }
      words.add(word.toString());
    }
  }

  private Refusal fatal(int number, String what) {
    return new Refusal("sbatch: fatal: " + file + ": line " + number + ": " + what);
  }

  /** C's isspace in the C locale. */
  private static boolean isSpace(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }

  /** Where in a line the reading is. */
  private static final class Cursor {
    private final String line;
    private int at;
    private char quote;

    Cursor(String line) {
      this.line = line;
    }

    boolean skipSpace() {
      while (at < line.length() && isSpace(line.charAt(at))) {
        at++;
      }
      return at < line.length();
    }

    /**
     * Reads one word; false if there is none, so that a comment and a lone {@code ""} end a line.
     */
    boolean word(StringBuilder word) {
      boolean any = false;
      boolean escaped = false;
      while (at < line.length() && (quote != 0 || !isSpace(line.charAt(at)))) {
        char c = line.charAt(at);
        if (escaped) {
          escaped = false;
        } else if (c == '\\') {
          escaped = true;
          at++;
          continue;
        } else if (quote != 0) {
          if (c == quote) {
            quote = 0;
            at++;
            continue;
          }
        } else if (c == '"' || c == '\'') {
          quote = c;
          at++;
          continue;
        } else if (c == '#') {
          break;
        }
        word.append(c);
        any = true;
        at++;
      }
      return any;
    }
  }
}
