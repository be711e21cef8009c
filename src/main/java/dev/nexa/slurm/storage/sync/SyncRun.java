package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.DigestComparison.Compared;
import dev.nexa.slurm.storage.sync.DigestComparison.ReadObject;
import dev.nexa.slurm.storage.sync.DigestComparison.Verdict;
import dev.nexa.slurm.storage.sync.Download.ReadAhead;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import dev.nexa.slurm.storage.sync.SyncReport.Outcome;
import dev.nexa.slurm.storage.sync.SyncState.Settled;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A sync of one folder with one address. It makes the plan, copies on several threads, and deletes
 * last.
 */
public final class SyncRun implements Closeable {
  /**
   * After this many refusals in a row the sync ends: the store refuses all, and the permissions are
   * wrong.
   */
  private static final int REFUSALS = 20;

  private static final String FILES = "files";

  /** The progress counts the files of these kinds: they are copied or compared. */
  private static final Set<Kind> COUNTED =
      EnumSet.of(Kind.NEW, Kind.REPLACE, Kind.COMPARE, Kind.COMPARE_ONLY);

  private final Sides sides;
  private final SyncOptions options;
  private final SyncState state;
  private final SyncPlan plan;
  private final Progress progress;

  /** Why the folder cannot hold the state, if its disk is full. */
  private final Optional<Exception> full;

  private final SyncReport report = new SyncReport();
  private final AtomicReference<RuntimeException> fatal = new AtomicReference<>();
  private final AtomicInteger refusals = new AtomicInteger();
  private final ExecutorService partThreads;
  private final Upload upload;
  private final Download download;

  private SyncRun(
      Sides sides,
      SyncOptions options,
      SyncState state,
      SyncPlan plan,
      Progress progress,
      Optional<Exception> full) {
    this.full = full;
    this.sides = sides;
    this.options = options;
    this.state = state;
    this.plan = plan;
    this.progress = progress;

    this.partThreads = Executors.newFixedThreadPool(options.threads(), daemons("sync-part"));
    this.upload = new Upload(sides, state.uploads(), partThreads);
    this.download =
        new Download(sides, state.parts(), partThreads, ReadAhead.ranges(options.threads()));
  }

  /**
   * Locks the folder's state and compares both sides.
   *
   * @param progress is informed now, and while the plan is executed
   * @throws NexaException if a side cannot be read to its end, or another sync is running
   */
  public static SyncRun plan(
      Path root,
      S3Place place,
      ObjectStore store,
      Filters filters,
      SyncOptions options,
      Progress progress) {
    return plan(root, place, store, filters, options, Retry.USUAL, progress);
  }

  static SyncRun plan(
      Path root,
      S3Place place,
      ObjectStore store,
      Filters filters,
      SyncOptions options,
      Retry retry,
      Progress progress) {
    try {
      LocalTree tree = new LocalTree(root);
      Sides sides = new Sides(tree, place, store, retry, new Traffic(options.bytesPerSecond()));
      try {
        SyncState state = SyncState.open(tree.root(), place);
        return plan(sides, state, filters, options, progress, Optional.empty());
      } catch (IOException | UncheckedIOException failed) {
        if (!FullDisk.isCause(failed)) {
          throw failed;
        }
        // A push of a full disk is the way to make room on it.
        SyncState state = SyncState.openElsewhere(tree.root(), place);
        return plan(sides, state, filters, options, progress, Optional.of(failed));
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("sync", root, failed);
    }
  }

  private static SyncRun plan(
      Sides sides,
      SyncState state,
      Filters filters,
      SyncOptions options,
      Progress progress,
      Optional<Exception> full)
      throws IOException {
    try (Running comparing = progress.begin(Phase.of("comparing", FILES))) {
      SyncPlan plan = SyncPlan.of(sides, state, filters, options, comparing);
      return new SyncRun(sides, options, state, plan, progress, full);
    } catch (IOException | RuntimeException failed) {
      state.close();
      throw failed;
    }
  }

  /** Returns a sentence about the record's place, if the folder's disk is too full for it. */
  public Optional<String> note() {
    return full.map(
        failure ->
            "the disk of %s is full, so the record of this sync is in %s"
                .formatted(sides.tree().root(), state.folder()));
  }

  static ThreadFactory daemons(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Returns the planned actions. */
  public SyncPlan planned() {
    return plan;
  }

  /**
   * Settles the files of the same size by their digests, and copies nothing.
   *
   * @param readObjects whether to read the bytes of all objects, too
   */
  public SyncReport compareOnly(boolean readObjects) {
    DigestComparison comparison = new DigestComparison(sides, true);
    SyncPlan.Count compared = plan.compared();
    Phase phase =
        Phase.of("verifying", FILES, compared.files())
            .withBytes(compared.bytes() * (readObjects ? 2 : 1));
    return work(action -> compareOnly(action, comparison, readObjects), phase);
  }

  private void compareOnly(Action action, DigestComparison comparison, boolean readObjects)
      throws IOException {
    if (action.local().isEmpty()) {
      report.add(Outcome.DIFFERING, action.path(), "not here");
    } else if (action.remote().isEmpty()) {
      report.add(Outcome.DIFFERING, action.path(), "not in S3");
    } else if (action.local().get().bytes() != action.remote().get().bytes()) {
      report.add(Outcome.DIFFERING, action.path(), "another size");
    } else {
      switch (comparison.of(action, readObjects ? ReadObject.ALWAYS : ReadObject.NEVER).verdict()) {
        case EQUAL -> report.add(Outcome.SAME);
        case DIFFERENT -> report.add(Outcome.DIFFERING, action.path(), "other bytes");
        case UNKNOWN ->
            report.add(
                Outcome.NOT_COMPARED, action.path(), "not compared: S3 keeps no digest of it");
      }
    }
  }

  /**
   * Copies the files that differ. If all of them were copied, it then deletes.
   *
   * @throws NexaException if the deletions are refused; no file is copied then
   */
  public SyncReport execute(DeleteLimit limit) {
    Optional<String> refusal = refusal(limit);
    if (refusal.isPresent()) {
      throw ErrorCode.SYNC_DELETION_REFUSED.error(refusal.get());
    }
    Path root = sides.tree().root();
    if (full.isPresent() && options.direction() == Direction.PULL) {
      throw FullDisk.error(root, full.get());
    }
    DigestComparison comparison = new DigestComparison(sides, false);
    SyncPlan.Count copied = plan.copied();
    Phase phase =
        Phase.of("copying", FILES, copied.files() + plan.compared().files())
            .withBytes(copied.bytes());
    try (Settled settled = new Settled(state)) {
      if (options.direction() == Direction.PUSH
          && copied.bytes() + plan.compared().bytes() > Upload.PART) {
        report.note(CompletionProbe.ask(sides, state));
      }
      work(action -> copy(action, comparison, settled), phase);
      report.note().ifPresent(note -> CompletionProbe.said(state));
    } catch (IOException failed) {
      throw FullDisk.isCause(failed)
          ? FullDisk.error(root, failed)
          : DurableFiles.failure("sync", root, failed);
    } catch (UncheckedIOException failed) {
      throw FullDisk.isCause(failed) ? FullDisk.error(root, failed) : failed;
    }
    long deletions = plan.count(Kind.DELETE).files();
    if (deletions > 0 && report.count(Outcome.FAILED) == 0 && report.count(Outcome.CONFLICT) == 0) {
      try (Running deleting = progress.begin(Phase.of("deleting", FILES, deletions))) {
        new Deletion(sides, options.direction(), state, report, deleting).of(plan);
      }
    } else if (deletions > 0) {
      report.add(Outcome.NOT_DELETED, deletions);
    }
    return report;
  }

  /**
   * Returns why the planned deletions are refused: more than the limit, or an empty or unreadable
   * source. Empty if they are not.
   */
  public Optional<String> refusal(DeleteLimit limit) {
    return limit.refusal(
        plan.count(Kind.DELETE).files(), plan.targetFiles(), plan.sourceFiles(), plan.complete());
  }

  /** Works on one action. */
  @FunctionalInterface
  private interface Step {
    void run(Action action) throws IOException;
  }

  private SyncReport work(Step step, Phase phase) {
    CountDownLatch running = new CountDownLatch(options.threads());
    try (BufferedReader actions = plan.open();
        Running copying = progress.begin(phase)) {
      sides.traffic().report(copying);
      for (int i = 0; i < options.threads(); i++) {
        daemons("sync-" + i).newThread(() -> takeAll(actions, step, running)).start();
      }
      running.await();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    }
    report.setBytes(sides.traffic().bytes());
    if (fatal.get() != null) {
      throw fatal.get();
    }
    return report;
  }

  private void takeAll(BufferedReader actions, Step step, CountDownLatch running) {
    try {
      while (fatal.get() == null) {
        String line;
        synchronized (actions) {
          line = actions.readLine();
        }
        if (line == null) {
          return;
        }
        take(Action.of(line), step);
      }
    } catch (IOException failed) {
      end(new UncheckedIOException(failed));
    } catch (RuntimeException failed) {
      end(failed);
    } catch (Error failed) {
      end(new IllegalStateException(failed));
    } finally {
      running.countDown();
    }
  }

  private void end(RuntimeException failure) {
    fatal.compareAndSet(null, failure);
    sides.traffic().stop();
  }

  private void take(Action action, Step step) {
    try {
      step.run(action);
      refusals.set(0);
      if (COUNTED.contains(action.kind())) {
        sides.traffic().fileDone();
      }
    } catch (StoreException failed) {
      report.add(Outcome.FAILED, action.path(), String.valueOf(failed.getMessage()));
      if (failed.kind() == StoreException.Kind.REFUSED && refusals.incrementAndGet() >= REFUSALS) {
        throw ErrorCode.S3_REFUSED.error(
            "S3: %s files in a row were refused, the last was %s%s: %s"
                .formatted(REFUSALS, sides.place().address(), action.path(), failed.getMessage()),
            Advice.command("lists the permissions", "nexa-slurm explain docs/sync.md"),
            Advice.step("then type the command again: what was copied is not copied again"));
      }
    } catch (IOException failed) {
      report.add(Outcome.FAILED, action.path(), DurableFiles.reason(failed));
    } catch (UncheckedIOException failed) {
      report.add(Outcome.FAILED, action.path(), String.valueOf(failed.getMessage()));
    } catch (InvalidPathException failed) {
      report.add(Outcome.FAILED, action.path(), "its name cannot be a file's name here");
    }
  }

  private void copy(Action action, DigestComparison comparison, Settled settled)
      throws IOException {
    switch (action.kind()) {
      case NEW, REPLACE -> transfer(action, settled);
      case COMPARE, COMPARE_ONLY -> {
        Compared compared = comparison.of(action, ReadObject.IF_IT_HAS_NO_DIGEST);
        if (compared.verdict() == Verdict.EQUAL) {
          report.add(Outcome.SAME);
          settled.add(compared.synced(), List.of());
        } else if (action.kind() == Kind.COMPARE) {
          transfer(action, settled);
        } else {
          report.add(Outcome.CONFLICT, action.path(), action.conflict(options.direction()));
        }
      }
      case CONFLICT ->
          report.add(Outcome.CONFLICT, action.path(), action.conflict(options.direction()));
      case DELETE, LEAVE -> {
        // Deletions come last.
      }
      case SAME -> throw new IllegalStateException("is not in a plan");
    }
  }

  private void transfer(Action action, Settled settled) throws IOException {
    if (options.direction() == Direction.PUSH) {
      settled.add(upload.send(action.path(), action.remote().map(Listed::etag)), List.of());
    } else {
      Download.Fetched fetched =
          download.fetch(action.path(), action.remote().orElseThrow(), action.local());
      settled.add(fetched.synced(), fetched.folders());
      if (!fetched.checked()) {
        report.add(Outcome.UNCHECKED);
      }
    }
    report.add(Outcome.COPIED);
  }

  @Override
  public void close() {
    partThreads.shutdownNow();
    try {
      plan.close();
    } catch (IOException failed) {
      throw DurableFiles.failure("clean", state.folder(), failed);
    } finally {
      state.close();
    }
  }
}
