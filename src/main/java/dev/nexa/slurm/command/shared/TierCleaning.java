package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.archive.BundledCopies;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import java.util.Optional;

/** Makes the use case of {@code cleanup}, which reads the bundles of archived runs. */
public final class TierCleaning {
  private TierCleaning() {}

  /**
   * Returns the use case.
   *
   * @param cluster the profile that says how S3 is reached; empty for the usual one
   */
  public static CleanTiers of(Context context, Optional<String> cluster, Progress progress) {
    ArchivePlaces places = ArchivePlaces.of(cluster);
    return new CleanTiers(
        context.workspace(),
        context.configs(),
        context::scheduler,
        new BundledCopies(
            context.workspace(),
            archive -> places.look(context, archive),
            archive -> places.read(context, archive, progress)),
        progress);
  }
}
