package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.LastCopies;
import dev.nexa.slurm.storage.cleanup.TrashedPath;
import java.util.Optional;
import java.util.function.Function;

/**
 * Looks at the bundle of an archived run before the run's files are deleted from the trash: they
 * may go only if the bundle is there with the recorded size, in S3 also with the SHA-256.
 */
public final class BundledCopies implements LastCopies {
  private final Workspace workspace;
  private final Function<ArchiveFile, BundleState> look;

  /**
   * Creates the check.
   *
   * @param look looks at the bundle of an archive
   */
  public BundledCopies(Workspace workspace, Function<ArchiveFile, BundleState> look) {
    this.workspace = workspace;
    this.look = look;
  }

  @Override
  public Optional<String> reasonToKeep(TrashedPath path) {
    try {
      return RunId.parse(path.run())
          .flatMap(run -> ArchiveFile.of(workspace, run))
          .filter(archive -> archive.durableFolders().contains(path.full()))
          .flatMap(this::reasonToKeep);
    } catch (NexaException unreadable) {
      return Optional.of("the record of its archive cannot be read: " + unreadable.getMessage());
    }
  }

  private Optional<String> reasonToKeep(ArchiveFile archive) {
    BundleState bundle = look.apply(archive);
    return bundle.isThere()
        ? Optional.empty()
        : Optional.of(
            "this may be the last copy, because the bundle "
                + archive.where()
                + " "
                + bundle.sentence());
  }
}
