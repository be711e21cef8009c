package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.Action.Why;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import java.util.Optional;

/** Decides what happens to a path. Pure. */
final class SyncComparison {
  private SyncComparison() {}

  /**
   * Returns what a sync does with a path.
   *
   * <p>The target's file is replaced or deleted only if it is as it was when both were last equal.
   * A time decides nothing: two hosts' clocks differ. Without a record, two files that differ are a
   * conflict.
   *
   * @param known what both sides had when they were last equal
   * @param options whether to delete, to overwrite, to read all bytes
   */
  static Action of(
      String path,
      Optional<LocalFile> local,
      Optional<Listed> remote,
      Optional<Synced> known,
      SyncOptions options) {
    boolean push = options.direction() == Direction.PUSH;
    boolean localHeld = known.isPresent() && local.map(known.get()::holds).orElse(false);
    boolean remoteHeld = known.isPresent() && remote.map(known.get()::holds).orElse(false);
    boolean targetHeld = push ? remoteHeld : localHeld;
    Why why = known.isEmpty() ? Why.NEVER_SYNCED : targetHeld ? Why.NONE : Why.TARGET_CHANGED;
    Kind kind;
    if (local.isEmpty() || remote.isEmpty()) {
      boolean atSource = push ? local.isPresent() : remote.isPresent();
      boolean changed = why == Why.TARGET_CHANGED && !options.overwrite();
      kind =
          atSource
              ? Kind.NEW
              : !options.delete() ? Kind.LEAVE : changed ? Kind.CONFLICT : Kind.DELETE;
    } else if (localHeld && remoteHeld) {
      why = options.readAll() ? Why.LOOKS_UNCHANGED : Why.NONE;
      kind =
          !options.readAll()
              ? Kind.SAME
              : push && !options.overwrite() ? Kind.COMPARE_ONLY : Kind.COMPARE;
    } else {
      boolean replace = options.overwrite() || targetHeld;
      boolean sameSize = local.get().bytes() == remote.get().bytes();
      kind =
          sameSize
              ? replace ? Kind.COMPARE : Kind.COMPARE_ONLY
              : replace ? Kind.REPLACE : Kind.CONFLICT;
    }
    return new Action(
        kind, why, path, local, remote, remoteHeld ? known.get().sha256() : Optional.empty());
  }
}
