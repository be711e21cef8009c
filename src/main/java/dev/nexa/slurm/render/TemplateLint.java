package dev.nexa.slurm.render;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Refuses what the output formats can't make safe: an interpolation inside quotes, a heredoc,
 * backticks or a comment is not a word of its own, and some directives switch the quoting off. Run
 * on every template as it is loaded.
 */
final class TemplateLint {
  private static final Pattern FORBIDDEN =
      Pattern.compile(
          "<#ftl|<#outputformat|<#setting|<#noautoesc|<#autoesc|\\?interpret|\\?eval|\\?no_esc|\\?new\\b");
  private static final Pattern HEREDOC = Pattern.compile("(?<!<)<<-?(?!<)\\s*['\"A-Za-z_]");
  private static final Pattern INTERPOLATION = Pattern.compile("\\[=");

  private TemplateLint() {}

  /** Checks a template's text; {@code directives} says whether it holds {@code #SBATCH} lines. */
  static void check(String name, String text, boolean directives) {
    String[] lines = text.replaceAll("(?s)<#--.*?-->", "").split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      String line = lines[i];
      Matcher forbidden = FORBIDDEN.matcher(line);
      if (forbidden.find()) {
        throw refused(
            name, i, "'" + forbidden.group() + "' switches quoting off or runs data as a template");
      }
      if (HEREDOC.matcher(line).find()) {
        throw refused(name, i, "a heredoc: nothing inside it is quoted");
      }
      Matcher interpolation = INTERPOLATION.matcher(line);
      while (interpolation.find()) {
        String before = line.substring(0, interpolation.start()).replaceAll("<[#@/][^>]*>", "");
        if (!directives && insideQuotesOrComment(before)) {
          throw refused(
              name,
              i,
              "an interpolation inside quotes, backticks or a comment is not quoted as a word");
        }
      }
    }
  }

  private static boolean insideQuotesOrComment(String before) {
    char open = 0;
    for (int i = 0; i < before.length(); i++) {
      char c = before.charAt(i);
      if (open == 0 && c == '\\') {
        i++;
      } else if (open == 0 && (c == '"' || c == '\'' || c == '`')) {
        open = c;
      } else if (open == 0 && c == '#' && (i == 0 || before.charAt(i - 1) == ' ')) {
        return true;
      } else if (c == open) {
        open = 0;
      }
    }
    return open != 0;
  }

  private static NexaException refused(String name, int line, String why) {
    return new NexaException(ExitCode.USAGE, "templates/" + name + ":" + (line + 1) + ": " + why);
  }
}
