package dev.nexa.slurm.approve;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The admin's folder of approvals that Slurm honours. slurmctld's Lua can't tell who owns a file:
 * that only root can write here is checked by us, and held by the folder's mode.
 *
 * @param path absolute; {@code used/} below it is SlurmUser's, who counts uses there
 */
public record TokenDirectory(Path path) {

  private static final String MODE = "rw-r--r--";
  private static final Set<Integer> ROOT = Set.of(0);

  /** Writes a token, whole or not at all; one that is there is replaced, its uses stay counted. */
  public Path install(SlurmToken token, DurableFiles files) {
    List<String> problems = problems();
    if (!problems.isEmpty()) {
      throw new NexaException(ExitCode.USAGE, problems.get(0), setUp(path));
    }
    Path file = path.resolve(token.id());
    files.replace(file, token.text().getBytes(StandardCharsets.US_ASCII), MODE);
    return file;
  }

  /** What lets somebody but root approve, or keeps uses from being counted; empty where nothing. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      problems.add("there is no folder " + path + ", where slurmctld looks for approvals");
      return problems;
    }
    guarded(path, problems);
    if (!Files.isDirectory(path.resolve("used"), LinkOption.NOFOLLOW_LINKS)) {
      problems.add("there is no folder " + path.resolve("used") + ", where uses are counted");
    }
    if (!problems.isEmpty()) {
      return problems;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      for (Path entry : entries) {
        if (!entry.endsWith("used")) {
          guarded(entry, problems);
        }
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", path, failed);
    }
    return problems;
  }

  private static void guarded(Path file, List<String> problems) {
    if (Files.isSymbolicLink(file)) {
      problems.add(file + " is a symbolic link");
    } else {
      GuardedPath.problem(file, ROOT).ifPresent(problems::add);
    }
  }

  /** What the admin types to make such a folder. */
  public static String[] setUp(Path path) {
    return new String[] {
      "install -d -o root -m 755 " + path,
      "install -d -o SLURM_USER -m 755 " + path.resolve("used") + "   # slurm.conf's SlurmUser"
    };
  }
}
