package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.job.config.ClusterProfile;
import dev.nexa.slurm.job.config.ClusterProfile.Storage;
import dev.nexa.slurm.job.plan.Plan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks whether this user can write to the storage tiers. */
public final class StorageCheck {
  private StorageCheck() {}

  /** Returns the tiers, with their folders, that this user cannot write to from this machine. */
  public static List<String> notWritable(Storage storage) {
    List<String> not = new ArrayList<>();
    notWritable("scratch", storage.scratch(), not);
    notWritable("durable", storage.durable(), not);
    notWritable("shared", storage.shared(), not);
    return not;
  }

  /**
   * Returns a sentence about tiers of Slurm's jobs that this user cannot write to; empty if there
   * are none. Scratch may be a disk that only the nodes have.
   */
  public static Optional<String> of(Plan plan) {
    List<String> not = notWritable(plan.storage());
    Path scratch = Path.of(plan.storage().scratch());
    not.removeIf(tier -> tier.startsWith("scratch ") && !Files.exists(scratch));
    return not.isEmpty() || plan.scheduler().equals(ClusterProfile.LOCAL)
        ? Optional.empty()
        : Optional.of(
            "you can't write to "
                + String.join(", ", not)
                + " from here; a job whose node can't either fails before its command starts: set"
                + " `storage` in configs/clusters/"
                + plan.cluster()
                + ".yaml");
  }

  /**
   * Adds the tier if this user cannot write to its folder, or to the nearest existing parent, where
   * it would be made.
   */
  private static void notWritable(String tier, String folder, List<String> not) {
    Path path = Path.of(folder);
    while (path.getParent() != null && !Files.exists(path)) {
      path = path.getParent();
    }
    if (!Files.isDirectory(path) || !Files.isWritable(path)) {
      not.add(tier + " (" + folder + ")");
    }
  }
}
