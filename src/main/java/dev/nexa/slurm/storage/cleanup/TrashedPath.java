package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.json.Codec.Key;
import java.nio.file.Path;

/**
 * A file or folder that a cleanup moved or meant to move.
 *
 * @param number its number in the cleanup, from 1
 * @param tier the tier's folder, with all links resolved
 * @param path its path below the tier
 * @param trash its path in the trash, below the tier
 * @param run the run that made it; an empty text for a temporary file
 * @param identity its device and inode
 * @param phase what happened to it, by the journal
 */
public record TrashedPath(
    int number,
    Path tier,
    Path path,
    Path trash,
    @Key("run_id") String run,
    long bytes,
    long files,
    String identity,
    @Key("type") Phase phase) {
  /** How far a path is, by the journal. The disk decides between the first two. */
  public enum Phase {
    /** The move was announced. It may have happened. */
    MOVING,
    MOVED,
    /** It was not moved, because it changed. */
    KEPT,
    /** Its way back was announced. It may have happened. */
    RESTORING,
    RESTORED,
    /** Its deletion has begun, so that it cannot come back. */
    DELETING,
    DELETED
  }

  /** Returns the full path where it was. */
  public Path full() {
    return tier.resolve(path);
  }

  /** Returns the full path where it is in the trash. */
  public Path held() {
    return tier.resolve(trash);
  }

  /** Returns whether the disk may have it in the trash. */
  public boolean mayBeInTrash() {
    return switch (phase) {
      case MOVING, MOVED, RESTORING, DELETING -> true;
      case KEPT, RESTORED, DELETED -> false;
    };
  }

  TrashedPath in(Phase next) {
    return new TrashedPath(number, tier, path, trash, run, bytes, files, identity, next);
  }
}
