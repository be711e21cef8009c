package dev.nexa.slurm.storage.sync;

/** Which side of a sync is changed. */
public enum Direction {
  /** From the folder to S3. */
  PUSH,
  /** From S3 to the folder. */
  PULL
}
