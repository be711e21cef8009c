package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.storage.tiers.Tier;
import java.time.Duration;
import java.util.Optional;

/**
 * The user's options for a cleanup.
 *
 * @param age how long a run must have ended, and a file must not have been modified
 * @param pruneOver checkpoints of more bytes than this are removed
 * @param grace how long moved files stay in the trash
 * @param tier the only tier that is looked at; empty for all
 */
public record Settings(Duration age, long pruneOver, Duration grace, Optional<Tier> tier) {
  boolean has(Tier one) {
    return tier.isEmpty() || tier.get() == one;
  }
}
