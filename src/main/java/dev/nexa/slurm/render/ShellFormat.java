package dev.nexa.slurm.render;

import freemarker.core.CommonMarkupOutputFormat;
import freemarker.core.CommonTemplateMarkupOutputModel;
import java.io.IOException;
import java.io.Writer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * FreeMarker output format whose escaping makes any text one word of a POSIX shell. The template
 * lint keeps its interpolations out of quotes and heredocs, where single quotes would be literal.
 */
final class ShellFormat extends CommonMarkupOutputFormat<ShellFormat.Word> {
  static final ShellFormat INSTANCE = new ShellFormat();

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");
  private static final Pattern TIER = Pattern.compile("\\$\\{(scratch|durable|shared|run_dir)}");

  private ShellFormat() {}

  @Override
  public String getName() {
    return "shell";
  }

  @Override
  public String getMimeType() {
    return "text/x-shellscript";
  }

  @Override
  public void output(String text, Writer out) throws IOException {
    out.write(escapePlainText(text));
  }

  /** Single quotes hold everything but themselves; text that needs none stays readable. */
  @Override
  public String escapePlainText(String text) {
    if (text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("a shell word can't hold NUL");
    }
    return PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
  }

  /**
   * A word in which the storage tiers become the job's variables: {@code ${durable}/x} → {@code
   * "$NEXA_DURABLE"/x}.
   */
  Word path(String text) {
    StringBuilder word = new StringBuilder();
    Matcher tier = TIER.matcher(text);
    int from = 0;
    while (tier.find()) {
      word.append(segment(text.substring(from, tier.start())));
      word.append("\"$NEXA_").append(tier.group(1).toUpperCase(java.util.Locale.ROOT)).append('"');
      from = tier.end();
    }
    String rest = text.substring(from);
    return word.length() == 0
        ? quoted(escapePlainText(rest))
        : quoted(word.append(segment(rest)).toString());
  }

  private Word quoted(String word) {
    return newTemplateMarkupOutputModel(null, word);
  }

  private String segment(String text) {
    return text.isEmpty() ? "" : escapePlainText(text);
  }

  @Override
  public boolean isLegacyBuiltInBypassed(String builtInName) {
    return false;
  }

  @Override
  protected Word newTemplateMarkupOutputModel(
      @org.jspecify.annotations.Nullable String plainText,
      @org.jspecify.annotations.Nullable String markup) {
    return new Word(plainText, markup);
  }

  /** Text that is already quoted. */
  static final class Word extends CommonTemplateMarkupOutputModel<Word> {
    Word(
        @org.jspecify.annotations.Nullable String plainText,
        @org.jspecify.annotations.Nullable String markup) {
      super(plainText, markup);
    }

    @Override
    public ShellFormat getOutputFormat() {
      return INSTANCE;
    }
  }
}
