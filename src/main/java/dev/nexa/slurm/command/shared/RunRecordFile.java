package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * Reads a manifest or a cost file for a command. A broken file is an error whose advice says how to
 * restore it.
 */
public final class RunRecordFile {
  private RunRecordFile() {}

  /**
   * Returns the value that {@code reading} takes from the run's cost file.
   *
   * @throws NexaException with {@link ExitCode#DEFECT} if the file is not JSON or lacks a required
   *     member; with {@link ExitCode#USAGE} if a newer nexa-slurm wrote it
   */
  public static <T> T cost(RunFolder run, Function<CostFile, T> reading) {
    return read(run.cost(), text -> reading.apply(CostFile.parse(text, run.cost().toString())));
  }

  /**
   * Returns the value that {@code reading} takes from the run's manifest.
   *
   * @throws NexaException as {@link #cost} does
   */
  public static <T> T manifest(RunFolder run, Function<ManifestFile, T> reading) {
    return read(
        run.manifest(), text -> reading.apply(ManifestFile.parse(text, run.manifest().toString())));
  }

  private static <T> T read(Path file, Function<String, T> reading) {
    String text = DurableFiles.read(file);
    try {
      return reading.apply(text);
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.RECORD_DAMAGED.error(
          file + " is broken: " + broken.getMessage(),
          broken,
          Advice.command(
              "writes it again from the journal and accounting", "nexa-slurm audit --repair"));
    }
  }
}
