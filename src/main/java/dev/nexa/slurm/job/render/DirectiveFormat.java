package dev.nexa.slurm.job.render;

import freemarker.core.CommonMarkupOutputFormat;
import freemarker.core.CommonTemplateMarkupOutputModel;
import java.io.IOException;
import java.io.Writer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * FreeMarker output format for values in {@code #SBATCH} lines.
 *
 * <p>Slurm's parser is not a shell (src/sbatch/opt.c, {@code get_argument}). It removes backslashes
 * inside single quotes and cuts the line at a bare {@code #}. It leaves a text in double quotes
 * unchanged if {@code \} and {@code "} are escaped.
 */
final class DirectiveFormat extends CommonMarkupOutputFormat<DirectiveFormat.Word> {
  static final DirectiveFormat INSTANCE = new DirectiveFormat();

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

  private DirectiveFormat() {}

  @Override
  public String getName() {
    return "directive";
  }

  @Override
  public String getMimeType() {
    return "text/x-sbatch-directive";
  }

  @Override
  public void output(String text, Writer out) throws IOException {
    out.write(escapePlainText(text));
  }

  @Override
  public String escapePlainText(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isISOControl(text.charAt(i))) {
        throw new IllegalArgumentException("an #SBATCH line can't hold a control character");
      }
    }
    return PLAIN.matcher(text).matches()
        ? text
        : '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  @Override
  public boolean isLegacyBuiltInBypassed(String builtInName) {
    return false;
  }

  @Override
  protected Word newTemplateMarkupOutputModel(@Nullable String plainText, @Nullable String markup) {
    return new Word(plainText, markup);
  }

  /** A text that is already quoted. */
  static final class Word extends CommonTemplateMarkupOutputModel<Word> {
    Word(@Nullable String plainText, @Nullable String markup) {
      super(plainText, markup);
    }

    @Override
    public DirectiveFormat getOutputFormat() {
      return INSTANCE;
    }
  }
}
