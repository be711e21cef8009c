package dev.nexa.slurm.base.error;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One line of help below an error.
 *
 * @param kind decides how the line is printed
 * @param command the words of a complete command; for {@link Kind#INSTEAD}, a typed word and the
 *     right word; empty if the line is a sentence
 * @param text the sentence; for a command, the reason to run it, which may be empty
 */
public record Advice(Kind kind, List<String> command, String text) {
  /** The kinds of lines. */
  public enum Kind {
    /** Information. It needs no action. */
    NOTE,
    /** A sentence that says what the user can do, or what the command has left unchanged. */
    STEP,
    /** A complete command. */
    COMMAND,
    /** The typed command with another word. The code that prints the error knows the command. */
    INSTEAD
  }

  public Advice {
    command = List.copyOf(command);
  }

  /** Returns information that needs no action. */
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
   * @param words the program and its arguments, not quoted; the first text may have several words
   *     of {@code nexa-slurm}, such as {@code nexa-slurm release list}
   */
  public static Advice command(String why, Object... words) {
    List<String> argv = new ArrayList<>();
    for (Object word : words) {
      boolean several = argv.isEmpty() && word.toString().startsWith("nexa-slurm ");
      argv.addAll(several ? List.of(word.toString().split(" ", -1)) : List.of(word.toString()));
    }
    return new Advice(Kind.COMMAND, argv, why);
  }

  /** Returns the command that was typed, with the right word in the place of the typed one. */
  public static Advice instead(String typed, String right) {
    return new Advice(Kind.INSTEAD, List.of(typed, right), right);
  }

  /**
   * Returns the advice with the whole command in the place of its right word. Advice of another
   * kind is unchanged, and so is advice whose typed word is not in the command.
   *
   * @param args the words of the command line behind the program
   */
  public Advice in(List<String> args) {
    if (kind != Kind.INSTEAD) {
      return this;
    }
    List<String> words = new ArrayList<>(args);
    words.replaceAll(word -> word.equals(command.get(0)) ? command.get(1) : word);
    words.add(0, "nexa-slurm");
    return step(args.contains(command.get(0)) ? command("", words.toArray()).toString() : text);
  }

  /**
   * Returns the line for people. A command is quoted for the shell, and its reason is a comment of
   * the shell. So the user can paste the line.
   */
  @Override
  public String toString() {
    if (kind != Kind.COMMAND) {
      return kind == Kind.NOTE ? "note: " + text : text;
    }
    String line = command.stream().map(Advice::word).collect(Collectors.joining(" "));
    return text.isEmpty() ? line : line + "  # " + text;
  }

  /** Returns the word as a POSIX shell reads it: in single quotes unless it needs none. */
  public static String word(String word) {
    return word.matches("[A-Za-z0-9_./:=@%+,-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
