package dev.nexa.slurm.render;

import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What will run: the script's text and the files beside it. The same plan gives the same bytes;
 * nothing of one run is in them.
 *
 * @param template where the template was found: the workspace's own wins over the jar's
 */
public record Script(String text, List<RunnerFile> files, String template) {

  /** A command as a person may paste it into a shell. */
  public static String shellLine(List<String> argv) {
    StringBuilder line = new StringBuilder();
    for (String word : argv) {
      line.append(line.length() == 0 ? "" : " ").append(ShellFormat.INSTANCE.escapePlainText(word));
    }
    return line.toString();
  }

  public byte[] bytes() {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** One digest over the script and every file, in the order of their names. */
  public String digest() {
    StringBuilder all = new StringBuilder(Sha256.of(text));
    List<RunnerFile> byName = new ArrayList<>(files);
    byName.sort(Comparator.comparing(RunnerFile::name));
    for (RunnerFile file : byName) {
      all.append('\n').append(file.name()).append(' ').append(file.digest());
    }
    return Sha256.of(all.toString());
  }
}
