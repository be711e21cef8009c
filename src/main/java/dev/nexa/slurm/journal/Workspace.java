package dev.nexa.slurm.journal;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Where runs are kept: runs/, estimates/ and what is in them (docs/architecture.md shows the tree).
 */
public final class Workspace {
  private final Path root;
  private final DurableFiles files;

  public Workspace(Path root, DurableFiles files) {
    this.root = root;
    this.files = files;
  }

  public Path root() {
    return root;
  }

  public DurableFiles files() {
    return files;
  }

  public Path runs() {
    return root.resolve("runs");
  }

  Path open() {
    return runs().resolve("open");
  }

  public Path manifests() {
    return runs().resolve("manifests");
  }

  /** The estimate of a plan, which an approver signs. */
  public Path estimate(String digest) {
    return estimates().resolve(digest + ".json");
  }

  /** Where estimates wait for an approval. */
  public Path estimates() {
    return root.resolve("estimates");
  }

  public RunFolder run(RunId id) {
    return new RunFolder(this, id);
  }

  /** Claims the next free id of the stage: its directory is made by exactly one process. */
  public RunFolder claim(String stage, Instant now) {
    files.directories(open());
    files.directories(manifests());
    for (int n = 1; n < 10_000; n++) {
      RunFolder run = run(RunId.of(stage, now, n));
      if (files.claimDirectory(run.path())) {
        files.force(runs());
        return run;
      }
    }
    throw new IllegalStateException("10,000 runs of one stage in one second");
  }

  /** Marks the run as unfinished: from now on every reconcile looks at it. */
  public void markOpen(RunId id) {
    files.mark(open().resolve(id.value()));
  }

  /** The run is finished: no reconcile looks at it again. */
  public void markClosed(RunId id) {
    files.unmark(open().resolve(id.value()));
  }

  public boolean isOpen(RunId id) {
    return Files.exists(open().resolve(id.value()));
  }

  /** Unfinished runs, oldest id first. */
  public List<RunId> openRuns() {
    return ids(open(), "");
  }

  /** Every run with a manifest or still open, newest first. */
  public List<RunId> allRuns() {
    List<RunId> all = new ArrayList<>(ids(manifests(), ".json"));
    openRuns().stream().filter(id -> !all.contains(id)).forEach(all::add);
    all.sort(java.util.Comparator.comparing(Workspace::time).reversed());
    return all;
  }

  /** The same, with those whose manifest is gone: an auditor looks for what is missing. */
  public List<RunId> everyRun() {
    List<RunId> every = allRuns();
    Set<RunId> known = new HashSet<>(every);
    for (RunId id : ids(runs(), "")) {
      if (!known.contains(id) && Files.exists(run(id).path().resolve("journal.jsonl"))) {
        every.add(id);
      }
    }
    return every;
  }

  /** The ids of all runs with a cost file, by the names alone: a workspace may have 100,000. */
  public Set<String> runsWithCost() {
    Set<String> runs = new HashSet<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(manifests(), "cost_*.json")) {
      for (Path file : found) {
        String name = file.getFileName().toString();
        String id = name.substring("cost_".length(), name.length() - ".json".length());
        // Earlier versions end in .v1.json.
        if (id.indexOf('.') < 0) {
          runs.add(id);
        }
      }
    } catch (NoSuchFileException none) {
      return runs;
    } catch (IOException failed) {
      throw DurableFiles.failure("read", manifests(), failed);
    }
    return runs;
  }

  /** The part of an id that orders runs of different stages. */
  private static String time(RunId id) {
    return id.value().substring(id.value().indexOf('_'));
  }

  /** Every run of the stage that was claimed, also one that has nothing but its folder. */
  public List<RunId> claimed(String stage) {
    List<RunId> claimed = new ArrayList<>();
    for (RunId id : ids(runs(), "")) {
      if (id.value().startsWith(stage + "_")) {
        claimed.add(id);
      }
    }
    return claimed;
  }

  /** The right to import, if nobody else has it within the time: two would both adopt a job. */
  public Optional<FileLock> lockImport(Duration patience) {
    return lock("import.lock", patience);
  }

  /** The right to take from the budgets, if nobody else has it within the time. */
  public Optional<FileLock> lockBudgets(Duration patience) {
    return lock("budgets.lock", patience);
  }

  private Optional<FileLock> lock(String name, Duration patience) {
    files.directories(runs());
    files.directories(state());
    try {
      Path lock = state().resolve(name);
      return Optional.of(FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, patience));
    } catch (FileLock.LockedException held) {
      return Optional.empty();
    }
  }

  /** What is true of this machine's passes, and of no run: {@code .nexa}. */
  Path state() {
    return root.resolve(".nexa");
  }

  /** The same, made if it is not there; empty where there is no workspace, or not ours to write. */
  Optional<Path> stateForWriting() {
    if (!Files.isDirectory(runs()) || !Files.isWritable(runs())) {
      return Optional.empty();
    }
    files.directories(state());
    return Optional.of(state());
  }

  /**
   * The right to ask accounting, which the whole cluster shares: one question at a time from a
   * workspace. Empty where nobody may write: who only looks at another's workspace just asks.
   *
   * @throws FileLock.LockedException if others ask for longer than that
   */
  public Optional<FileLock> askAccounting(Duration patience) {
    Optional<Path> state = stateForWriting();
    if (state.isEmpty()) {
      return Optional.empty();
    }
    Path lock = state.get().resolve("accounting.lock");
    return Optional.of(FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, patience));
  }

  /** Points {@code runs/latest} at the run. */
  public void linkLatest(RunId id) {
    files.link(runs().resolve("latest"), root.getFileSystem().getPath(id.value()));
  }

  /** The run that {@code latest} names. */
  public RunId latest() {
    try {
      return new RunId(Files.readSymbolicLink(runs().resolve("latest")).getFileName().toString());
    } catch (NoSuchFileException none) {
      throw new NexaException(
          ExitCode.USAGE,
          "there is no run in " + root.toAbsolutePath().normalize(),
          "`nexa-slurm submit CONFIG` makes one");
    } catch (IOException failed) {
      throw DurableFiles.failure("read", runs().resolve("latest"), failed);
    }
  }

  private static List<RunId> ids(Path directory, String suffix) {
    try (Stream<Path> entries = Files.list(directory)) {
      List<RunId> ids = new ArrayList<>();
      for (Path entry : (Iterable<Path>) entries::iterator) {
        String name = entry.getFileName().toString();
        if (name.endsWith(suffix)) {
          Optional<RunId> id = RunId.parse(name.substring(0, name.length() - suffix.length()));
          id.ifPresent(ids::add);
        }
      }
      Collections.sort(ids);
      return ids;
    } catch (NoSuchFileException none) {
      return new ArrayList<>();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", directory, failed);
    }
  }
}
