package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Formats a file of {@code runner/} for {@code render --files}: a line with its name, then its
 * text.
 *
 * <p>Only the name of a binary file is shown. A line that looks like a secret is replaced.
 */
public final class RunnerFileText {
  /** Replaces a hidden line. */
  static final String HIDDEN = "[this line looks like a secret and is not shown]";

  /**
   * Matches tokens in the forms that their issuers use, private keys, and assignments of secrets.
   */
  private static final Pattern SECRET =
      Pattern.compile(
          "\\b(gh[opsur]_|github_pat_|glpat-|hf_|AKIA|ASIA|AIza|xox[abprs]-|sk-|gsk_|nvapi-|npm_|wandb_v1_|dckr_pat_)"
              + "[A-Za-z0-9_-]{16}"
              + "|-----BEGIN [A-Z ]{0,30}PRIVATE KEY"
              + "|[A-Z0-9_]{0,60}(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|CREDENTIALS)[A-Z0-9_]{0,20}['\"]?\\s{0,4}[=:]\\s{0,4}['\"]?[^\\s'\"$<{(]{6}"
              + "|[a-z][a-z0-9+.-]{1,20}://[^\\s/:@]{1,60}:[^\\s/@$]{1,200}@");

  private RunnerFileText() {}

  /** Returns the header and the text of the file; ends with a line feed. */
  public static String of(RunnerFile file) {
    byte[] content = file.content();
    String header =
        "==> runner/" + file.name() + "  " + content.length + " bytes  sha256 " + file.digest();
    Optional<String> text = text(file);
    if (text.isEmpty()) {
      return header + "  not text <==\n";
    }
    boolean ended = text.get().isEmpty() || text.get().endsWith("\n");
    return header + " <==\n" + text.get() + (ended ? "" : "\n");
  }

  /**
   * Returns the text to show; empty if the content is not UTF-8 or holds control characters, which
   * a terminal would interpret.
   */
  public static Optional<String> text(RunnerFile file) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(file.content())).toString();
    } catch (CharacterCodingException binary) {
      return Optional.empty();
    }
    if (text.chars().anyMatch(c -> Character.isISOControl(c) && "\n\t\r".indexOf(c) < 0)) {
      return Optional.empty();
    }
    StringBuilder shown = new StringBuilder(text.length());
    boolean inKey = false;
    for (String line : text.split("(?<=\n)", -1)) {
      boolean hides = inKey || SECRET.matcher(line).find();
      if (line.contains("PRIVATE KEY")) {
        inKey = line.contains("-----BEGIN ");
      }
      shown.append(hides ? HIDDEN + (line.endsWith("\n") ? "\n" : "") : line);
    }
    return Optional.of(shown.toString());
  }
}
