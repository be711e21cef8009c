package dev.nexa.slurm.base.error;

import java.util.ArrayList;
import java.util.List;

/**
 * One line of help below an error.
 *
 * @param kind decides how the line is printed
 * @param command the words of a command that can be run as it is; empty if the line is a sentence
 * @param text the sentence; for a command, the reason to run it, which may be empty
 */
public record Advice(Kind kind, List<String> command, String text) {
  /** The kinds of lines. */
  public enum Kind {
    /** Information. Nobody has to act on it. */
    NOTE,
    /** A sentence that says what the user can do, or what the command has left as it was. */
    STEP,
    /** A command that can be run as it is. */
    COMMAND
  }

  public Advice {
    command = List.copyOf(command);
  }

  /** Returns information on which nobody has to act. */
  public static Advice note(String text) {
    return new Advice(Kind.NOTE, List.of(), text);
  }

  /** Returns a sentence that says what to do. */
  public static Advice step(String text) {
    return new Advice(Kind.STEP, List.of(), text);
  }

  /**
   * Returns a command.
   *
   * @param why what the command does, such as {@code shows them}; may be empty
   * @param words the program and its arguments, not quoted
   */
  public static Advice command(String why, Object... words) {
    List<String> argv = new ArrayList<>();
    for (Object word : words) {
      argv.add(word.toString());
    }
    return new Advice(Kind.COMMAND, argv, why);
  }

  /** Returns the line as it is printed for people: a command is quoted for the shell. */
  @Override
  public String toString() {
    if (kind == Kind.NOTE) {
      return "note: " + text;
    }
    if (kind == Kind.STEP) {
      return text;
    }
    StringBuilder line = new StringBuilder();
    for (String word : command) {
      line.append(line.length() == 0 ? "" : " ").append(quoted(word));
    }
    return text.isEmpty() ? line.toString() : line.append("    ").append(text).toString();
  }

  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_./:=@%+,-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
