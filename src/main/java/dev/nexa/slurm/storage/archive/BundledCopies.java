package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.LastCopies;
import dev.nexa.slurm.storage.cleanup.TrashedPath;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads the bundle of an archived run before the run's files are deleted from the trash: they may
 * go only if the bundle has the recorded size and SHA-256.
 *
 * @param look looks at the bundle of an archive, and reads none in a folder
 * @param read reads the bundle of an archive, and compares its SHA-256
 */
public record BundledCopies(
    Workspace workspace,
    Function<ArchiveFile, BundleState> look,
    Function<ArchiveFile, BundleState> read)
    implements LastCopies {
  /** Each bundle is looked at once, although several paths of its run are in the trash. */
  @Override
  public Map<TrashedPath, String> reasonsToKeep(List<TrashedPath> paths, boolean reads) {
    Function<ArchiveFile, BundleState> state = reads ? read : look;
    Map<RunId, BundleState> seen = new HashMap<>();
    Map<TrashedPath, String> reasons = new HashMap<>();
    for (TrashedPath path : paths) {
      try {
        Optional<ArchiveFile> archive = archive(path);
        archive
            .map(one -> seen.computeIfAbsent(one.run(), run -> state.apply(one)))
            .flatMap(bundle -> reasonToKeep(archive.get(), bundle))
            .ifPresent(reason -> reasons.put(path, reason));
      } catch (NexaException unreadable) {
        reasons.put(path, "the record of its archive cannot be read: " + unreadable.getMessage());
      }
    }
    return reasons;
  }

  /** Returns the archive that holds a path; empty if the path is not of an archived run. */
  private Optional<ArchiveFile> archive(TrashedPath path) {
    return RunId.parse(path.run())
        .flatMap(run -> ArchiveFile.of(workspace, run))
        .filter(archive -> archive.durableFolders().contains(path.full()));
  }

  private static Optional<String> reasonToKeep(ArchiveFile archive, BundleState bundle) {
    return bundle.isThere()
        ? Optional.empty()
        : Optional.of(
            "this may be the last copy, because the bundle %s %s"
                .formatted(archive.where(), bundle.sentence()));
  }
}
