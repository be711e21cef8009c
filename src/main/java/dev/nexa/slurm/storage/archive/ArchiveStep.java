package dev.nexa.slurm.storage.archive;

/** The points at which a test kills an archive or a restore. */
public enum ArchiveStep {
  HALF_WRITTEN,
  WRITTEN,
  CHECKED,
  CLAIMED,
  PLACED,
  RECORDED,
  JOURNALED,
  HALF_EXTRACTED,
  EXTRACTED,
  RETURNED
}
