package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.signatures.GuardedPath;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The admin's folder of approvals that slurmctld accepts. slurmctld's Lua cannot see who owns a
 * file, so this class checks that only root can write here.
 *
 * @param path absolute; the folder {@code used/} below it belongs to SlurmUser, who counts uses
 *     there
 */
public record TokenDirectory(Path path) {

  private static final String MODE = "rw-r--r--";

  /** The shell asks Slurm for SlurmUser, so that the line can be typed unchanged. */
  private static final String SLURM_USER =
      "\"$(scontrol show config | sed -n 's/^SlurmUser *= *\\([^(]*\\).*/\\1/p')\"";

  private static final Set<Integer> ROOT = Set.of(0);

  /**
   * Writes a token atomically and returns its file. An existing token is replaced; its counted uses
   * remain.
   *
   * @throws NexaException if {@link #problems} finds any
   */
  public Path install(SlurmToken token, DurableFiles files) {
    List<String> problems = problems();
    if (!problems.isEmpty()) {
      throw ErrorCode.APPROVAL_NOT_INSTALLABLE.error(problems.get(0), "nothing was written");
    }
    Path file = path.resolve(token.id());
    files.replace(file, token.text().getBytes(StandardCharsets.US_ASCII), MODE);
    return file;
  }

  /**
   * Returns what lets another user than root approve runs, or prevents uses from being counted;
   * empty if all is well.
   */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      problems.add(
          "there is no folder %s, where slurmctld looks for approvals; root types: %s"
              .formatted(path, makePath()));
      return problems;
    }
    guarded(path, problems);
    if (!Files.isDirectory(path.resolve("used"), LinkOption.NOFOLLOW_LINKS)) {
      problems.add(
          "there is no folder %s, where slurmctld counts uses; root types: %s"
              .formatted(path.resolve("used"), makeUsed()));
    }
    if (problems.isEmpty()) {
      DurableFiles.list(path, "*").stream()
          .filter(entry -> !entry.endsWith("used"))
          .forEach(entry -> guarded(entry, problems));
    }
    return problems;
  }

  private static void guarded(Path file, List<String> problems) {
    if (Files.isSymbolicLink(file)) {
      problems.add(file + " is a symbolic link; root types: rm " + file);
    } else {
      GuardedPath.problem(file, ROOT).ifPresent(problems::add);
    }
  }

  /** Returns the commands that root types to create such a folder. */
  public List<String> setUp() {
    return List.of(makePath(), makeUsed());
  }

  private String makePath() {
    return "install -d -o root -m 755 " + Advice.word(path.toString());
  }

  private String makeUsed() {
    return "install -d -o "
        + SLURM_USER
        + " -m 755 "
        + Advice.word(path.resolve("used").toString());
  }
}
