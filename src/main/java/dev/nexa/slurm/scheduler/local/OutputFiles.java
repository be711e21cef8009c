package dev.nexa.slurm.scheduler.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The files that a task writes to. */
record OutputFiles(Path output, Path error) {

  /**
   * Makes the files as slurmstepd does: emptied unless they are to be appended to.
   *
   * @throws IOException if one can't be written, such as in a folder that is not there
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
    // /dev/null and FIFOs are good files too, but can't be cut.
    if (append || !Files.exists(file) || Files.isRegularFile(file)) {
      Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, how).close();
    }
  }

  /** Leaves a line; a disk that is full must not end a supervisor. */
  static void append(Path file, String line) {
    try {
      Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException failed) {
      System.err.print("could not write to " + file + " (" + failed + "): " + line);
    }
  }
}
