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

/**
 * The admin's folder of approvals that Slurm honours. slurmctld's Lua can't tell who owns a file:
 * that only root can write here is checked by us, and held by the folder's mode.
 *
 * @param path absolute; {@code used/} below it is SlurmUser's, who counts uses there
 */
public record TokenDirectory(Path path) {

  private static final String MODE = "rw-r--r--";
  private static final int OTHERS_WRITE = 0022;
  private static final int STICKY = 01000;

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
      problems.add("there is no folder " + path);
      return problems;
    }
    for (Path above = path; above != null; above = above.getParent()) {
      guarded(above, problems);
    }
    if (!Files.isDirectory(path.resolve("used"), LinkOption.NOFOLLOW_LINKS)) {
      problems.add("there is no folder " + path.resolve("used") + ", where uses are counted");
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

  /** Only root may change it; in a sticky folder such as /tmp others can't rename it away. */
  private static void guarded(Path file, List<String> problems) {
    try {
      int uid = (Integer) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      int mode = (Integer) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
      if (uid != 0) {
        problems.add(file + " is not root's");
      } else if (Files.isSymbolicLink(file)) {
        problems.add(file + " is a symbolic link");
      } else if ((mode & OTHERS_WRITE) != 0 && (mode & STICKY) == 0) {
        problems.add(file + " can be written by others than root");
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
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
