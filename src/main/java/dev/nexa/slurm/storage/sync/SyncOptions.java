package dev.nexa.slurm.storage.sync;

/**
 * How to sync.
 *
 * @param direction which side is changed
 * @param delete whether to delete the files that only the target has
 * @param overwrite whether to replace or delete the target's file where it would otherwise be a
 *     conflict
 * @param readAll whether to compare digests of all files, also of unchanged files
 * @param bytesPerSecond the most bytes in a second, 0 for no limit
 * @param threads how many files are copied at once
 */
public record SyncOptions(
    Direction direction,
    boolean delete,
    boolean overwrite,
    boolean readAll,
    long bytesPerSecond,
    int threads) {
  /** Which side of a sync is changed. */
  public enum Direction {
    /** From the folder to S3. */
    PUSH,
    /** From S3 to the folder. */
    PULL
  }
}
