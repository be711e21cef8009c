package dev.nexa.slurm.storage.cleanup;

/** The points at which a test kills a cleanup. */
public enum CleanupStep {
  BEGUN,
  ANNOUNCED,
  RENAMED,
  MOVED,
  DELETION_ANNOUNCED,
  HALF_DELETED,
  TREE_DELETED,
  DELETED,
  RETURN_ANNOUNCED,
  RETURNED,
  RESTORED
}
