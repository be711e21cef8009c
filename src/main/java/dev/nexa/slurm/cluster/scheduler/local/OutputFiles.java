package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.FileModes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The output files of a task.
 *
 * @param output standard output
 * @param error standard error; may be the file of standard output
 */
record OutputFiles(Path output, Path error) {

  /**
   * Creates the files as slurmstepd does. Existing files are emptied, unless the job appends.
   *
   * @throws IOException if a file cannot be written, for example because its folder is missing
   */
  static OutputFiles open(Job job, Attempt attempt) throws IOException {
    OutputPath paths = new OutputPath(job, attempt);
    OutputFiles files = new OutputFiles(paths.output(), paths.error());
    open(files.output, job.append());
    if (!files.error.equals(files.output)) {
      open(files.error, job.append());
    }
    return files;
  }

  private static void open(Path file, boolean append) throws IOException {
    StandardOpenOption how =
        append ? StandardOpenOption.APPEND : StandardOpenOption.TRUNCATE_EXISTING;
    // /dev/null and FIFOs are valid files, but cannot be truncated.
    if (Files.notExists(file)) {
      FileModes.append(file, false).close();
    } else if (append || Files.isRegularFile(file)) {
      Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, how).close();
    }
  }

  /** Appends a line. It never throws, because a full disk must not end the runner. */
  static void append(Path file, String line) {
    try {
      Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException failed) {
      System.err.print("could not write to " + file + " (" + failed + "): " + line);
    }
  }
}
