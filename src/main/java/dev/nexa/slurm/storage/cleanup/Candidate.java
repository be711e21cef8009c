package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * A file or folder that may be moved into the trash.
 *
 * @param path its path below the tier
 * @param run the run that made it; empty for a temporary file of ours
 * @param why why it is not needed any more
 * @param identity its device and inode; another file in its place is not touched
 * @param modified when it itself was modified
 */
public record Candidate(
    TierRoot root,
    Path path,
    Optional<RunId> run,
    String why,
    long bytes,
    long files,
    String identity,
    Instant modified) {
  /** Returns the full path. */
  public Path full() {
    return root.path().resolve(path);
  }
}
