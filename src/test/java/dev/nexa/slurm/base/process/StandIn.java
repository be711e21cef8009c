package dev.nexa.slurm.base.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Makes programs that tests run.
 *
 * <p>Linux does not run a file that any process has open for writing (execve(2), ETXTBSY). A file
 * that this JVM has just written may still be open in a child that another test's thread starts at
 * that moment. So a program here is a hard link to a file that a shell wrote once, and that reads
 * the program's text from the file beside the link.
 */
public final class StandIn {
  private static final Path SH = runner("/bin/sh");
  private static final Path BASH = runner("/bin/bash");

  private StandIn() {}

  /** Makes a program that sh runs. The text may be replaced by another call. */
  public static Path sh(Path program, String text) {
    return link(program, text, SH);
  }

  /** Makes a program that bash runs. */
  public static Path bash(Path program, String text) {
    return link(program, text, BASH);
  }

  private static Path link(Path program, String text, Path runner) {
    try {
      Files.createDirectories(program.toAbsolutePath().getParent());
      Files.writeString(program.resolveSibling(program.getFileName() + ".sh"), text + "\n");
      Files.deleteIfExists(program);
      return Files.createLink(program, runner);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Path runner(String shell) {
    try {
      Path file = Files.createTempDirectory("nexa-stand-in").resolve("runner");
      String write =
          "printf '#!%s\\n. \"$0.sh\"\\n' \"$1\" >\"$2\" && chmod 755 \"$2\" \"${2%/*}\"";
      Process made =
          new ProcessBuilder("/bin/sh", "-c", write, "sh", shell, file.toString())
              .inheritIO()
              .start();
      if (made.waitFor() != 0) {
        throw new IllegalStateException("cannot write " + file);
      }
      // The JVM deletes in the reverse order.
      file.getParent().toFile().deleteOnExit();
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stopped);
    }
  }
}
