package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.nio.file.Path;
import java.util.function.Function;

/** A manifest or a cost file, read for a person: a broken one is told, and what mends it. */
public final class RecordFile {
  private RecordFile() {}

  /**
   * What is read from the file.
   *
   * @throws NexaException ({@link ExitCode#DEFECT}) if it is no JSON or lacks what it must have
   */
  public static <T> T read(Path file, Function<JsonObject, T> reading) {
    String text = DurableFiles.read(file);
    try {
      return reading.apply(Json.parseObject(text));
    } catch (IllegalArgumentException broken) {
      throw new NexaException(
          ExitCode.DEFECT,
          file + " is broken: " + broken.getMessage(),
          broken,
          "`nexa-slurm audit --repair` writes it again from the journal and accounting");
    }
  }
}
