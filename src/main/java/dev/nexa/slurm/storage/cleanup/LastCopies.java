package dev.nexa.slurm.storage.cleanup;

import java.util.Optional;

/** Knows which paths in the trash are the last copy of an archived run. */
public interface LastCopies {
  /** Returns why a path in the trash must not be deleted; empty if it may be. */
  Optional<String> reasonToKeep(TrashedPath path);
}
