package dev.nexa.slurm.job.render;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Refuses templates that the output formats cannot make safe.
 *
 * <p>An interpolation inside quotes, a heredoc, backticks or a comment is not a word of its own,
 * and some directives turn quoting off. Templates of the workspace and of plugins are checked when
 * they are loaded; a test checks the templates of the jar.
 */
final class TemplateLint {
  private static final Pattern COMMENT = Pattern.compile("(?s)<#--.*?-->");
  static final Pattern FORBIDDEN =
      Pattern.compile(
          "<#(?:ftl|outputformat|setting|noautoesc|autoesc|noparse)\\b"
              + "|\\?\\s*(?:interpret|eval|eval_json|no_esc|new)\\b");
  private static final Pattern HEREDOC = Pattern.compile("(?<!<)<<-?(?!<)\\s*['\"\\\\A-Za-z_]");
  private static final Pattern TAG = Pattern.compile("</?[#@][^>]*>");

  private final String name;
  private final String text;

  /** Whether it renders {@code #SBATCH} lines, where a quote ends with its line. */
  private final boolean directives;

  /** The open quote: one of " ' `, # in a comment, or 0. */
  private char open;

  private TemplateLint(String name, String text, boolean directives) {
    this.name = name;
    this.text = COMMENT.matcher(text).replaceAll(comment -> newlines(comment.group()));
    this.directives = directives;
  }

  /**
   * Checks a template's text.
   *
   * @param directives whether the template renders {@code #SBATCH} lines
   * @throws NexaException with the line of the first error
   */
  static void check(String name, String text, boolean directives) {
    TemplateLint lint = new TemplateLint(name, text, directives);
    lint.refuse(FORBIDDEN, "switches quoting off or runs data as a template");
    lint.refuse(HEREDOC, "begins a heredoc: nothing inside it is quoted");
    lint.interpolations();
  }

  private static String newlines(String comment) {
    return "\n".repeat((int) comment.chars().filter(c -> c == '\n').count());
  }

  private void refuse(Pattern forbidden, String why) {
    Matcher found = forbidden.matcher(text);
    if (found.find()) {
      throw refused(found.start(), "'" + found.group() + "' " + why);
    }
  }

  /** Reads the text as bash would, and refuses interpolations inside quotes. */
  private void interpolations() {
    Matcher tag = TAG.matcher(text);
    for (int i = 0; i < text.length(); i++) {
      if (text.startsWith("[=", i)) {
        if (open != 0) {
          throw refused(
              i, "an interpolation inside quotes, backticks or a comment is not quoted as a word");
        }
        i = text.indexOf(']', i) < 0 ? text.length() : text.indexOf(']', i);
      } else if (tag.region(i, text.length()).lookingAt()) {
        i = tag.end() - 1;
      } else if (text.charAt(i) == '\\' && open != '#' && open != '\'') {
        i++;
      } else {
        read(i);
      }
    }
  }

  private void read(int i) {
    char c = text.charAt(i);
    boolean quote = c == '"' || c == '\'' || c == '`';
    if (c == '\n' && (open == '#' || directives)) {
      open = 0;
    } else if (open == 0 && quote) {
      open = c;
    } else if (open == 0 && c == '#' && !directives && beginsWord(i)) {
      open = '#';
    } else if (quote && open == c) {
      open = 0;
    }
  }

  private boolean beginsWord(int i) {
    return i == 0 || " \t\n;&|()".indexOf(text.charAt(i - 1)) >= 0;
  }

  private NexaException refused(int at, String why) {
    long line = 1 + text.substring(0, at).chars().filter(c -> c == '\n').count();
    return ErrorCode.TEMPLATE_INVALID.error("templates/" + name + ":" + line + ": " + why);
  }
}
