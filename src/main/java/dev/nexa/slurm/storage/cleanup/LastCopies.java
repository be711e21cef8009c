package dev.nexa.slurm.storage.cleanup;

import java.util.List;
import java.util.Map;

/** Knows which paths in the trash are the last copy of an archived run. */
public interface LastCopies {
  /**
   * Reads the bundles of archived runs, and returns for each path that must not be deleted the
   * reason, a clause without a full stop. A path that may be deleted is not in the map.
   *
   * @param paths paths in the trash
   */
  Map<TrashedPath, String> read(List<TrashedPath> paths);
}
