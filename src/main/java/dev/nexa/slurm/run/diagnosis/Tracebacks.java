package dev.nexa.slurm.run.diagnosis;

import java.util.regex.Pattern;

/**
 * Finds the last line of each Python traceback: the exception. Launchers put the same prefix before
 * each line of a rank, such as {@code [rank3]:}; its digits may change, as the digits of a time do.
 */
final class Tracebacks {
  private static final String BEGIN = "Traceback (most recent call last):";

  /** Python prints it before the traceback of an exception that no code can catch. */
  private static final String IGNORED = "Exception ignored in: ";

  /** Python prints it between two exceptions if the second came while the first was handled. */
  private static final Pattern CHAIN =
      Pattern.compile(
          "During handling of the above exception|The above exception was the direct cause");

  /** The last line of a traceback: a class, and mostly a message. */
  private static final Pattern EXCEPTION = Pattern.compile("[A-Za-z_][\\w.]*(:( .*)?)?");

  /** An exception, maybe after a prefix that ends with a time, a bracket, a colon or a bar. */
  private static final Pattern RAISED =
      Pattern.compile(
          "(.{0,100}?([\\])|:]|\\d[:.,]\\d+Z?) ?)?\\s*([A-Za-z_][\\w.]*(Error|Exception|Failure|Interrupt)|Exception)(:.*)?");

  /** A line of source with its number, as IPython and rich print it. */
  private static final Pattern NUMBERED =
      Pattern.compile("\\s*(-+> *\\d+ |(\u2502|\u2771)?\\s*\\d+\\s{2,}\\S)");

  private static final Pattern DIGIT = Pattern.compile("\\p{Nd}");

  /** The text before each line of the open traceback; empty if none is open. */
  private String prefix = "";

  private boolean open;
  private boolean ignored;

  /** Returns whether the line is the exception at the end of a traceback. */
  boolean ends(String line) {
    int begin = line.indexOf(BEGIN);
    ignored = line.contains(IGNORED) || (ignored && (open || begin >= 0));
    if (begin >= 0) {
      prefix = shape(line.substring(0, begin));
      open = true;
      return false;
    }
    if (open && line.startsWith("  File \"")) {
      prefix = ""; // A logger puts its prefix before the first line only.
    }
    int length = prefix.length();
    if (!open || line.length() <= length || !shape(line.substring(0, length)).equals(prefix)) {
      return false;
    }
    String content = line.substring(length);
    char first = content.charAt(0);
    if (first == ' ' || first == '\t' || first == '+' || first == '|') {
      return false;
    }
    open = false;
    return EXCEPTION.matcher(content).matches();
  }

  /**
   * Returns whether the line is a line of source in a traceback, also in one of a notebook: a
   * program names the errors that it looks for.
   */
  boolean isSource(String line) {
    return (open && line.startsWith(" ", Math.min(prefix.length(), line.length())))
        || NUMBERED.matcher(line).lookingAt();
  }

  /** Returns whether the line looks like an exception, though no traceback stands before it. */
  static boolean looksRaised(String line) {
    return RAISED.matcher(line).matches();
  }

  /** Returns whether the line is of a traceback that Python printed and went on. */
  boolean isIgnored() {
    return ignored;
  }

  /** Returns whether the line says that the next exception came from the exception before it. */
  static boolean isChain(String line) {
    return CHAIN.matcher(line).find();
  }

  private static String shape(String prefix) {
    return DIGIT.matcher(prefix).replaceAll("0");
  }
}
