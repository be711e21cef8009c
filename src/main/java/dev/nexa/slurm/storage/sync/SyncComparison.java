package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import java.util.Optional;

/** Decides what happens to a path. Pure. */
final class SyncComparison {
  private SyncComparison() {}

  /**
   * Returns what a sync does with a path.
   *
   * <p>A file that differs is replaced at the target if the target's is as it was when both were
   * last equal. If nobody knows what was equal, the newer one wins.
   *
   * @param known what both sides had when they were last equal
   * @param options whether to delete, to overwrite, to read all bytes
   */
  static Kind of(
      Optional<LocalFile> local,
      Optional<Listed> remote,
      Optional<Synced> known,
      SyncOptions options) {
    boolean push = options.direction() == Direction.PUSH;
    if (local.isEmpty() || remote.isEmpty()) {
      boolean atSource = push ? local.isPresent() : remote.isPresent();
      return atSource ? Kind.NEW : options.delete() ? Kind.DELETE : Kind.LEAVE;
    }
    boolean localHeld = known.isPresent() && known.get().holds(local.get());
    boolean remoteHeld = known.isPresent() && known.get().holds(remote.get());
    if (localHeld && remoteHeld && !options.readAll()) {
      return Kind.SAME;
    }
    boolean localNewer = local.get().modified().isAfter(remote.get().modified());
    boolean targetHeld = push ? remoteHeld : localHeld;
    boolean replace = options.overwrite() || (known.isPresent() ? targetHeld : localNewer == push);
    if (local.get().bytes() == remote.get().bytes()) {
      return replace ? Kind.COMPARE : Kind.COMPARE_ONLY;
    }
    return replace ? Kind.REPLACE : Kind.CONFLICT;
  }
}
