package dev.nexa.slurm.command.datasets;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.DatasetVersion;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.datasets.Registry;
import dev.nexa.slurm.storage.lineage.CollectLineage;
import java.time.Duration;
import java.util.List;

/**
 * The registry of a cluster profile.
 *
 * @param tiers the profile's storage tiers
 */
record Datasets(Context context, Storage tiers, Registry registry) {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Returns the registry on these tiers. */
  static Datasets of(Context context, Storage tiers) {
    DurableFiles files = new DurableFiles(context.disk());
    return new Datasets(context, tiers, new Registry(tiers, files, PATIENCE));
  }

  /** Returns all versions, in the order of the registry. */
  List<DatasetVersion> versions() {
    return registry.read().values().stream().flatMap(List::stream).toList();
  }

  /** Returns the collector of this workspace's lineage. */
  CollectLineage lineage() {
    return new CollectLineage(context.workspace(), versions(), tiers);
  }
}
