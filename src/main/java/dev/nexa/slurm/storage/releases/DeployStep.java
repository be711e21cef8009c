package dev.nexa.slurm.storage.releases;

/** The points at which tests kill a process that deploys or rolls back. */
public enum DeployStep {
  /** The switch is announced in the history. */
  ANNOUNCED,
  /** The link leads to the other release. */
  SWITCHED,
  /** The release was tested. */
  TESTED,
  /** A switch back is announced, because the test failed. */
  BACK_ANNOUNCED,
  /** The link leads back to the earlier release. */
  SWITCHED_BACK,
  /** The result is in the history. */
  WRITTEN
}
