package dev.nexa.slurm.job.config.foreign;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The words of a script's {@code #SBATCH} lines, as sbatch of Slurm 22.05 reads them
 * (src/sbatch/opt.c, _opt_batch_script and _get_argument). Pure.
 */
public final class SbatchWords {
  /** The beginning of a line with options; sbatch reads both words. */
  private static final Pattern MAGIC = Pattern.compile("#(SBATCH|SLURM)");

  private SbatchWords() {}

  /**
   * A word.
   *
   * @param line the number of its line, from 1; {@link #TYPED} for a word of the command line, and
   *     a negative number for a variable ({@link SbatchVariables#name})
   */
  public record Word(String text, int line) {
    static final int TYPED = 0;
  }

  /**
   * Returns the words of all lines up to the first command, in order. A line counts only if it
   * begins with {@code #SBATCH} or {@code #SLURM}, without a space before. Other comments and blank
   * lines are left out. Lines of PBS and LSF, which sbatch reads too, follow as one word each.
   */
  public static List<Word> of(String script) {
    List<Word> words = new ArrayList<>();
    List<Word> foreign = new ArrayList<>();
    int number = 0;
    for (String line : script.split("\n", -1)) {
      number++;
      Matcher magic = MAGIC.matcher(line);
      if (magic.lookingAt()) {
        for (String word : words(line.substring(magic.end()))) {
          words.add(new Word(word, number));
        }
      } else if (line.startsWith("#PBS") || line.startsWith("#BSUB")) {
        foreign.add(new Word(line.strip(), number));
      } else if (!line.isBlank() && !line.strip().startsWith("#")) {
        break;
      }
    }
    words.addAll(foreign);
    return words;
  }

  /**
   * Returns the words of a line. Single and double quotes both keep blanks, and a backslash keeps
   * the next character. A {@code #} outside quotes ends the line, also within a word. An empty word
   * ends the line too.
   */
  private static List<String> words(String line) {
    List<String> words = new ArrayList<>();
    int at = 0;
    while (true) {
      while (at < line.length() && isSpace(line.charAt(at))) {
        at++;
      }
      StringBuilder word = new StringBuilder();
      char quote = 0;
      boolean escaped = false;
      boolean comment = false;
      while (at < line.length() && !comment && (quote != 0 || !isSpace(line.charAt(at)))) {
        char c = line.charAt(at);
        if (escaped) {
          word.append(c);
          escaped = false;
        } else if (c == '\\') {
          escaped = true;
        } else if (quote != 0 && c == quote) {
          quote = 0;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
          quote = c;
        } else if (quote == 0 && c == '#') {
          comment = true;
        } else {
          word.append(c);
        }
        at++;
      }
      if (word.length() > 0) {
        words.add(word.toString());
      }
      if (word.length() == 0 || comment) {
        return words;
      }
    }
  }

  /** Returns what isspace(3) says in the locale C. */
  private static boolean isSpace(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }
}
