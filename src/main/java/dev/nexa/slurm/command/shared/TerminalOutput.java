package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.text.TableStyle;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Standard output that is a terminal: it has a width, and tables may have colours. */
public final class TerminalOutput extends PrintWriter {
  private static final int USUAL_WIDTH = 80;

  private final TerminalWriter terminal;
  private final Map<String, String> environment;
  private @Nullable TableStyle style;

  private TerminalOutput(TerminalWriter terminal, Map<String, String> environment) {
    super(terminal);
    this.terminal = terminal;
    this.environment = environment;
  }

  /**
   * Makes the output.
   *
   * @param colours whether colours of other programs pass, as in logs
   * @param environment COLUMNS gives the width; NO_COLOR, and TERM=dumb, mean no colours
   */
  // Main's verifier would load this class for a narrower return type, also for a pipe.
  public static PrintWriter over(
      OutputStream stream, boolean colours, Map<String, String> environment) {
    return new TerminalOutput(TerminalWriter.writer(stream, colours), environment);
  }

  /** Returns how tables are laid out here. Asks the terminal for its width once. */
  TableStyle style() {
    if (style == null) {
      style = new TableStyle(width(environment), mayColour(environment));
    }
    return style;
  }

  /** Prints a table, whose colours are our own. */
  void printTable(String table) {
    terminal.passOurColours(true);
    print(table);
    terminal.passOurColours(false);
  }

  /** Returns whether the user's variables allow colours. */
  public static boolean mayColour(Map<String, String> environment) {
    return environment.getOrDefault("NO_COLOR", "").isEmpty()
        && !environment.getOrDefault("TERM", "dumb").equals("dumb");
  }

  /** Returns the terminal's width, from COLUMNS or from the terminal. */
  static int width(Map<String, String> environment) {
    int told = number(environment.getOrDefault("COLUMNS", ""));
    int width = told > 0 ? told : asked();
    return width > 0 ? width : USUAL_WIDTH;
  }

  /** Asks stty(1), which prints rows and columns; 0 if it does not know. */
  private static int asked() {
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(new File("/dev/tty"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (BufferedReader answer = stty.inputReader(StandardCharsets.US_ASCII)) {
        String line = answer.readLine();
        int blank = line == null ? -1 : line.indexOf(' ');
        return line == null || blank < 0 ? 0 : number(line.substring(blank + 1));
      }
    } catch (IOException none) {
      return 0;
    }
  }

  private static int number(String text) {
    return text.matches("[1-9]\\d{0,4}") ? Integer.parseInt(text) : 0;
  }
}
