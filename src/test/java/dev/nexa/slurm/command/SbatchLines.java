package dev.nexa.slurm.command;

import java.util.ArrayList;
import java.util.List;

/**
 * The options of a script as sbatch reads them (src/sbatch/opt.c, get_argument, and
 * src/common/slurm_opt.c): lines up to the first command, quotes and backslashes obeyed, a bare #
 * ends the line.
 */
public final class SbatchLines {
  private SbatchLines() {}

  public static List<String> of(String script) {
    List<String> options = new ArrayList<>();
    for (String line : script.split("\n", -1)) {
      if (line.startsWith("#SBATCH")) {
        words(line.substring("#SBATCH".length()), options);
      } else if (!line.isEmpty() && line.charAt(0) != '#' && !line.isBlank()) {
        break;
      }
    }
    return options;
  }

  private static void words(String line, List<String> words) {
    StringBuilder word = new StringBuilder();
    boolean begun = false;
    char quote = 0;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '\\' && i + 1 < line.length()) {
        word.append(line.charAt(++i));
        begun = true;
      } else if (quote != 0 && c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
        begun = true;
      } else if (quote == 0 && (c == ' ' || c == '\t')) {
        if (begun) {
          words.add(word.toString());
        }
        word.setLength(0);
        begun = false;
      } else if (quote == 0 && c == '#') {
        break;
      } else {
        word.append(c);
        begun = true;
      }
    }
    if (quote != 0) {
      throw new AssertionError("sbatch refuses an open quote: " + line);
    }
    if (begun) {
      words.add(word.toString());
    }
  }
}
