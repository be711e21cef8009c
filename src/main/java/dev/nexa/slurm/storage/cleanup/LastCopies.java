package dev.nexa.slurm.storage.cleanup;

import java.util.List;
import java.util.Map;

/** Knows which paths in the trash are the last copy of an archived run. */
@FunctionalInterface
public interface LastCopies {
  /** No path is the last copy of a run. */
  LastCopies NONE = (paths, read) -> Map.of();

  /**
   * Looks at the bundles of archived runs, and returns for each path that must not be deleted the
   * reason, a clause without a full stop. A path that may be deleted is not in the map.
   *
   * @param paths paths in the trash
   * @param read whether to read the bundles in folders, too; otherwise their sizes are compared
   */
  Map<TrashedPath, String> reasonsToKeep(List<TrashedPath> paths, boolean read);
}
