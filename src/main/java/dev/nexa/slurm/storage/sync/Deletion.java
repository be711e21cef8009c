package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import dev.nexa.slurm.storage.sync.SyncReport.Outcome;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Deletes at the target what a plan says. Each path is in the journal before it is deleted. */
record Deletion(
    Sides sides, Direction direction, SyncState state, SyncReport report, Running deleting) {
  private static final int JOURNALED_AT_ONCE = 500;

  /** Carries out all deletions of a plan. */
  void of(SyncPlan plan) {
    List<Action> batch = new ArrayList<>();
    plan.forEach(
        action -> {
          if (action.kind() == Kind.DELETE) {
            batch.add(action);
            if (batch.size() == JOURNALED_AT_ONCE) {
              delete(batch);
            }
          }
        });
    delete(batch);
  }

  private void delete(List<Action> batch) {
    if (batch.isEmpty()) {
      return;
    }
    state.journal(
        batch.stream().map(action -> journalLine(action) + "\n").collect(Collectors.joining()));
    List<Synced> removed = new ArrayList<>();
    for (Action action : batch) {
      try {
        delete(action);
        removed.add(Synced.removed(action.path()));
        report.add(Outcome.DELETED);
      } catch (StoreException failed) {
        report.add(Outcome.FAILED, action.path(), "not deleted: " + failed.getMessage());
      } catch (IOException failed) {
        report.add(Outcome.FAILED, action.path(), "not deleted: " + DurableFiles.reason(failed));
      }
      deleting.done(1, 0);
    }
    state.add(removed);
    batch.clear();
  }

  private void delete(Action action) throws IOException {
    if (direction == Direction.PULL) {
      sides.tree().delete(action.local().orElseThrow());
      return;
    }
    String etag = action.remote().orElseThrow().etag();
    ifUnchanged(sides.store(), sides.retry(), sides.key(action.path()), etag);
  }

  /**
   * Deletes an object if it is still this version.
   *
   * @throws StoreException of kind CHANGED if it is another one
   */
  static void ifUnchanged(ObjectStore store, Retry retry, String key, String etag) {
    // Not every store knows If-Match for deletions.
    Optional<Stored> stored = retry.call(() -> store.head(key));
    if (stored.isPresent() && !stored.get().etag().equals(etag)) {
      throw StoreException.changed("the object in S3 changed since the plan was made");
    }
    retry.run(() -> store.delete(key, etag));
  }

  private String journalLine(Action action) {
    return Json.compact(
        new JsonObject()
            .with("time", Instant.now())
            .with("event", "delete")
            .with("side", direction == Direction.PUSH ? "s3" : "local")
            .with("address", sides.place().address())
            .with("path", action.path())
            .withOptional("etag", action.remote().map(Listed::etag))
            .withOptional("bytes", action.local().map(LocalFile::bytes)));
  }
}
