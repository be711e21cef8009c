package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;

/**
 * The manifest of a run that is over, checked against the digest in the run's journal.
 *
 * <p>All code that lets a model go further because of what a manifest says reads it through this
 * class.
 */
public final class FinalManifest {
  private FinalManifest() {}

  /**
   * Returns the manifest; empty if the run is not over, by its journal. Reads the file once, so
   * that the bytes that were checked are the bytes that are used.
   *
   * @throws NexaException with {@link ErrorCode#FILE_CHANGED} if the file is missing, or is not
   *     what the journal says; or if the journal is damaged
   */
  public static Optional<ManifestFile> of(RunFolder run) {
    List<Event> events = run.journal().read();
    if (!RunState.of(events).finished()) {
      return Optional.empty();
    }
    if (!Files.exists(run.manifest())) {
      throw changed(run, "is missing, and the run's journal says that the run is over");
    }
    byte[] bytes = DurableFiles.readBytes(run.manifest());
    // Journals of early versions hold no digest.
    Optional<String> digest = events.get(events.size() - 1).data().optionalText("manifest_sha256");
    if (digest.isPresent() && !digest.get().equals(Sha256.of(bytes))) {
      throw changed(run, "is not what the run's journal holds the SHA-256 of");
    }
    String text = new String(bytes, StandardCharsets.UTF_8);
    return Optional.of(ManifestFile.parse(text, run.manifest().toString()));
  }

  private static NexaException changed(RunFolder run, String what) {
    return ErrorCode.FILE_CHANGED.error(
        run.manifest() + " " + what,
        Advice.command("puts back what was final", "nexa-slurm", "audit", "--repair", run.id()));
  }
}
