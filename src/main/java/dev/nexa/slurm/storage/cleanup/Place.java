package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.nio.file.Path;

/**
 * A folder of an ended run on a tier: {@code TIER/NAME} or {@code TIER/checkpoints/NAME}.
 *
 * @param parent the folder in which it lies, below the tier; may be empty
 * @param name the run's id, or {@code ID.n}
 */
record Place(TierRoot root, Path parent, String name, RunId run) {
  /** Returns its path below the tier. */
  Path path() {
    return parent.resolve(name);
  }

  Path full() {
    return root.path().resolve(path());
  }
}
