package dev.nexa.slurm.storage.cleanup;

import java.util.List;
import java.util.Map;

/** Knows which paths in the trash are the last copy of an archived run. */
public interface LastCopies {
  /** No path is the last copy of a run. */
  LastCopies NONE =
      new LastCopies() {
        @Override
        public Map<TrashedPath, String> look(List<TrashedPath> paths) {
          return Map.of();
        }

        @Override
        public Map<TrashedPath, String> read(List<TrashedPath> paths) {
          return Map.of();
        }
      };

  /** Does what {@link #read} does, but reads no bundle in a folder: sizes are compared. */
  Map<TrashedPath, String> look(List<TrashedPath> paths);

  /**
   * Reads the bundles of archived runs, and returns for each path that must not be deleted the
   * reason, a clause without a full stop. A path that may be deleted is not in the map.
   *
   * @param paths paths in the trash
   */
  Map<TrashedPath, String> read(List<TrashedPath> paths);
}
