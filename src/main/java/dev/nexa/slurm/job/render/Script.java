package dev.nexa.slurm.job.render;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The job script and the files beside it. A plan always gives the same bytes; they contain nothing
 * of a single run.
 *
 * @param text the script
 * @param files the files in runner/
 * @param template where the template was found, such as {@code jar:templates/task.sbatch.ftl}
 */
public record Script(String text, List<RunnerFile> files, String template) {

  /** Returns a command as a line for a POSIX shell. */
  public static String shellLine(List<String> argv) {
    return argv.stream()
        .map(ShellFormat.INSTANCE::escapePlainText)
        .collect(Collectors.joining(" "));
  }

  public byte[] bytes() {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns one SHA-256 of the script and all files, in the order of their names. */
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
