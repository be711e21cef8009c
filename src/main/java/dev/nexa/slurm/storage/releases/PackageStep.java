package dev.nexa.slurm.storage.releases;

/** The points at which a test kills the packaging of a release. */
public enum PackageStep {
  BEGUN,
  HALF_COPIED,
  COPIED,
  DOCUMENT_WRITTEN,
  FORCED,
  RENAMED
}
