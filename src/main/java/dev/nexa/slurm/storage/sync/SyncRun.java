package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.ObjectStore.Body;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A sync of one folder with one address: makes the plan, copies on several threads, deletes last.
 */
public final class SyncRun implements Closeable {
  private static final int JOURNALED_AT_ONCE = 500;

  private final LocalTree tree;
  private final S3Place place;
  private final ObjectStore store;
  private final SyncOptions options;
  private final Retry retry;
  private final SyncState state;
  private final SyncPlan plan;
  private final Traffic traffic;
  private final SyncReport report = new SyncReport();

  private SyncRun(
      LocalTree tree,
      S3Place place,
      ObjectStore store,
      SyncOptions options,
      Retry retry,
      SyncState state,
      SyncPlan plan) {
    this.tree = tree;
    this.place = place;
    this.store = store;
    this.options = options;
    this.retry = retry;
    this.state = state;
    this.plan = plan;
    this.traffic = new Traffic(new Throttle(options.bytesPerSecond()));
  }

  /** Gets the progress of a sync, about once a second. */
  @FunctionalInterface
  public interface Watch {
    /** Takes the bytes and files that are done. */
    void progress(long bytes, long files);
  }

  /**
   * Locks the folder's state and compares both sides.
   *
   * @throws NexaException if a side cannot be read to its end, or another sync is running
   */
  public static SyncRun plan(
      Path root, S3Place place, ObjectStore store, Filters filters, SyncOptions options) {
    return plan(root, place, store, filters, options, Retry.USUAL);
  }

  static SyncRun plan(
      Path root,
      S3Place place,
      ObjectStore store,
      Filters filters,
      SyncOptions options,
      Retry retry) {
    try {
      LocalTree tree = new LocalTree(root);
      SyncState state = SyncState.open(tree.root(), place);
      try {
        SyncPlan plan = SyncPlan.of(tree, store, place.prefix(), state, filters, options, retry);
        return new SyncRun(tree, place, store, options, retry, state, plan);
      } catch (IOException | RuntimeException failed) {
        state.close();
        throw failed;
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("sync", root, failed);
    }
  }

  static ThreadFactory daemons(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Returns what the sync will do. */
  public PlanReport planned() {
    return new PlanReport(plan, options.direction());
  }

  /** Settles the files of the same size by their digests, and copies nothing. */
  public SyncReport compareOnly(boolean readObjects, Watch watch) {
    return work(action -> compareOnly(action, readObjects), watch);
  }

  private void compareOnly(Action action, boolean readObjects) throws IOException {
    switch (action.kind()) {
      case COMPARE, COMPARE_ONLY -> {
        if (equal(action, readObjects).isPresent()) {
          report.addSame();
        } else {
          report.addDiffering(action.path(), "other bytes");
        }
      }
      case NEW ->
          report.addDiffering(
              action.path(), options.direction() == Direction.PUSH ? "not in S3" : "not here");
      case DELETE ->
          report.addDiffering(
              action.path(), options.direction() == Direction.PUSH ? "not here" : "not in S3");
      case REPLACE, CONFLICT -> report.addDiffering(action.path(), "another size");
      case SAME, LEAVE -> throw new IllegalStateException("is not in a plan");
    }
  }

  /**
   * Copies what differs; then, if all of it was copied, deletes.
   *
   * @throws NexaException if more would be deleted than the limit allows; nothing is copied then
   */
  public SyncReport execute(DeleteLimit limit, Watch watch) {
    checkDeletions(limit);
    try (Settled settled = new Settled(state)) {
      work(action -> copy(action, settled), watch);
    } catch (IOException failed) {
      throw DurableFiles.failure("sync", tree.root(), failed);
    }
    long deletions = plan.tally(Kind.DELETE).files();
    if (deletions > 0 && report.failed() == 0) {
      delete();
    } else if (deletions > 0) {
      report.addNotDeleted(deletions);
    }
    return report;
  }

  /**
   * Throws if more would be deleted than the limit allows.
   *
   * @throws NexaException also if the source is empty or cannot be read as a whole
   */
  public void checkDeletions(DeleteLimit limit) {
    limit.check(
        plan.tally(Kind.DELETE).files(), plan.targetFiles(), plan.sourceFiles(), plan.complete());
  }

  /** Does something with one action. */
  @FunctionalInterface
  private interface Step {
    void run(Action action) throws IOException;
  }

  private SyncReport work(Step step, Watch watch) {
    AtomicReference<RuntimeException> fatal = new AtomicReference<>();
    CountDownLatch running = new CountDownLatch(options.threads());
    try (BufferedReader actions = plan.open()) {
      for (int i = 0; i < options.threads(); i++) {
        daemons("sync-" + i)
            .newThread(
                () -> {
                  try {
                    takeAll(actions, step, fatal);
                  } catch (RuntimeException | Error failed) {
                    fatal.compareAndSet(
                        null,
                        failed instanceof RuntimeException known
                            ? known
                            : new IllegalStateException(failed));
                  } finally {
                    running.countDown();
                  }
                })
            .start();
      }
      while (!running.await(1, TimeUnit.SECONDS)) {
        watch.progress(traffic.bytes(), traffic.files());
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    }
    report.setBytes(traffic.bytes());
    if (fatal.get() != null) {
      throw fatal.get();
    }
    return report;
  }

  private void takeAll(BufferedReader actions, Step step, AtomicReference<RuntimeException> fatal) {
    while (fatal.get() == null) {
      Action action;
      try {
        String line;
        synchronized (actions) {
          line = actions.readLine();
        }
        if (line == null) {
          return;
        }
        action = Action.of(line);
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
      try {
        step.run(action);
        traffic.fileDone();
      } catch (StoreException failed) {
        report.addFailed(action.path(), String.valueOf(failed.getMessage()));
      } catch (IOException | UncheckedIOException failed) {
        report.addFailed(
            action.path(),
            failed instanceof IOException io
                ? DurableFiles.reason(io)
                : String.valueOf(failed.getMessage()));
      }
    }
  }

  private void copy(Action action, Settled settled) throws IOException {
    switch (action.kind()) {
      case NEW, REPLACE -> transfer(action, settled);
      case COMPARE, COMPARE_ONLY -> {
        Optional<Synced> equal = equal(action, false);
        if (equal.isPresent()) {
          report.addSame();
          settled.add(equal.get(), List.of());
        } else if (action.kind() == Kind.COMPARE) {
          transfer(action, settled);
        } else {
          report.addConflict(action.path());
        }
      }
      case CONFLICT -> report.addConflict(action.path());
      case DELETE -> {
        // Last of all.
      }
      case SAME, LEAVE -> throw new IllegalStateException("is not in a plan");
    }
  }

  private void transfer(Action action, Settled settled) throws IOException {
    String key = place.prefix() + action.path();
    if (options.direction() == Direction.PUSH) {
      Synced sent =
          new Upload(tree, store, state.uploads(), retry, traffic)
              .send(key, action.path(), action.remote().map(Listed::etag));
      settled.add(sent, List.of());
      report.addCopied(true);
    } else {
      Download.Fetched fetched =
          new Download(tree, store, state.parts(), retry, traffic)
              .fetch(key, action.path(), action.remote().orElseThrow(), action.local());
      settled.add(fetched.synced(), fetched.folders());
      report.addCopied(fetched.checked());
    }
  }

  /** Returns what both sides have if their digests agree; empty if not, or if none is known. */
  private Optional<Synced> equal(Action action, boolean readObject) throws IOException {
    String key = place.prefix() + action.path();
    LocalFile file = action.local().orElseThrow();
    Listed object = action.remote().orElseThrow();
    Optional<Stored> stored = retry.call(key, () -> store.head(key));
    if (stored.isEmpty() || !stored.get().etag().equals(object.etag())) {
      throw new StoreException(
          StoreException.Kind.CHANGED, "the object in S3 changed since the plan was made");
    }
    MessageDigest md5 = Md5.digest();
    MessageDigest sha256 = Sha256.digest();
    try (InputStream in = Channels.newInputStream(tree.read(action.path()))) {
      digest(in, sha256, md5);
    }
    if (!tree.stat(action.path()).equals(Optional.of(file))) {
      throw new StoreException(StoreException.Kind.CHANGED, "the file changed while it was read");
    }
    String hex = Sha256.hex(sha256);
    boolean same =
        stored.get().sha256().isPresent()
            ? stored.get().sha256().get().equals(hex)
            : stored.get().md5().equals(Optional.of(HexFormat.of().formatHex(md5.digest())));
    if (readObject) {
      same = readDigest(key, object).equals(hex);
    }
    return same
        ? Optional.of(
            new Synced(
                action.path(), file.bytes(), file.modified(), Optional.of(hex), object.etag()))
        : Optional.empty();
  }

  private String readDigest(String key, Listed object) throws IOException {
    return retry.call(
        key,
        () -> {
          MessageDigest sha256 = Sha256.digest();
          try (Body body = store.get(key, object.etag(), 0)) {
            digest(traffic.counted(body.in()), sha256, Md5.digest());
          } catch (IOException cut) {
            throw new StoreException(StoreException.Kind.BUSY, "the connection was cut");
          }
          return Sha256.hex(sha256);
        });
  }

  private static void digest(InputStream in, MessageDigest sha256, MessageDigest md5)
      throws IOException {
    byte[] buffer = new byte[1 << 17];
    for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
      sha256.update(buffer, 0, read);
      md5.update(buffer, 0, read);
    }
  }

  private void delete() {
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
    StringBuilder lines = new StringBuilder();
    batch.forEach(action -> lines.append(journalLine(action)).append('\n'));
    state.journal(lines.toString());
    List<Synced> removed = new ArrayList<>();
    for (Action action : batch) {
      try {
        delete(action);
        removed.add(Synced.removed(action.path()));
        report.addDeleted();
      } catch (StoreException failed) {
        report.addFailed(action.path(), "not deleted: " + failed.getMessage());
      } catch (IOException failed) {
        report.addFailed(action.path(), "not deleted: " + DurableFiles.reason(failed));
      }
    }
    state.add(removed);
    batch.clear();
  }

  private void delete(Action action) throws IOException {
    if (options.direction() == Direction.PULL) {
      tree.delete(action.local().orElseThrow());
      return;
    }
    String key = place.prefix() + action.path();
    Optional<Stored> stored = retry.call(key, () -> store.head(key));
    if (stored.isPresent() && !stored.get().etag().equals(action.remote().orElseThrow().etag())) {
      throw new StoreException(
          StoreException.Kind.CHANGED, "the object in S3 changed since the plan was made");
    }
    retry.call(
        key,
        () -> {
          store.delete(key);
          return key;
        });
  }

  private String journalLine(Action action) {
    boolean push = options.direction() == Direction.PUSH;
    return Json.compact(
        new JsonObject()
            .with("time", Instant.now())
            .with("event", "delete")
            .with("side", push ? "s3" : "local")
            .with("address", place.address())
            .with("path", action.path())
            .withOptional("etag", action.remote().map(Listed::etag))
            .withOptional("bytes", action.local().map(LocalFile::bytes)));
  }

  @Override
  public void close() {
    try {
      plan.close();
    } catch (IOException failed) {
      throw DurableFiles.failure("clean", state.folder(), failed);
    } finally {
      state.close();
    }
  }
}
