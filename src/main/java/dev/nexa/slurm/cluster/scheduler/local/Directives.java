package dev.nexa.slurm.cluster.scheduler.local;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits a script's {@code #SBATCH} lines into words as sbatch does ({@code _opt_batch_script},
 * {@code get_argument} and {@code next_line} in src/sbatch/opt.c of Slurm 22.05).
 *
 * <p>sbatch does not split as a shell does. A backslash also escapes inside single quotes, an
 * unquoted backslash before a space ends the word, {@code #} begins a comment even inside a word,
 * and nothing is expanded. Pure.
 */
final class Directives {
  private static final List<String> MAGIC = List.of("#SBATCH", "#SLURM");

  private final String file;
  private final List<String> words = new ArrayList<>();

  private Directives(String file) {
    this.file = file;
  }

  /**
   * Returns all words in their order, both options and values.
   *
   * @param file the script's name, for sbatch's messages
   * @throws SbatchRefusal if sbatch would refuse a line
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

  /**
   * Reads one line; false if it is a command, because directives below a command are plain
   * comments.
   */
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

  private SbatchRefusal fatal(int number, String what) {
    return new SbatchRefusal("sbatch: fatal: " + file + ": line " + number + ": " + what);
  }

  /** C's isspace in the C locale. */
  private static boolean isSpace(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }

  /** A position in a line. */
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
     * Reads one word; false if there is none. A comment and a lone {@code ""} give no word and so
     * end the line.
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
