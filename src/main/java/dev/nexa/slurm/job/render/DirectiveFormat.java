package dev.nexa.slurm.job.render;

import java.util.regex.Pattern;

/**
 * FreeMarker output format for values in {@code #SBATCH} lines.
 *
 * <p>Slurm's parser is not a shell (src/sbatch/opt.c, {@code get_argument}). It removes backslashes
 * inside single quotes and cuts the line at a bare {@code #}. It leaves a text in double quotes
 * unchanged if {@code \} and {@code "} are escaped.
 */
final class DirectiveFormat extends QuotedFormat {
  static final DirectiveFormat INSTANCE = new DirectiveFormat();

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

  private DirectiveFormat() {
    super("directive", "text/x-sbatch-directive");
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
}
