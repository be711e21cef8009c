package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.records.runs.LockOwner;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The state that a sync keeps: a folder {@code .nexa-sync/<user>-<digest>} in the synced folder,
 * one for each user and address. Only its user can read it. Sometimes that folder cannot be
 * written, for example because it is mounted read-only or its disk is full. Then the state is below
 * {@code XDG_STATE_HOME}, else below {@code $HOME/.local/state}.
 *
 * <ul>
 *   <li>{@code state}: each path that was equal on both sides, sorted
 *   <li>{@code log}: each path that became equal since then; merged into {@code state} when it is
 *       long, and by the next sync
 *   <li>{@code journal.jsonl}: each deletion, written before it is done
 *   <li>{@code parts/}, {@code uploads/}: unfinished downloads and uploads
 * </ul>
 */
final class SyncState implements Closeable {
  /** The folder of all states, in the synced folder. */
  static final String FOLDER = ".nexa-sync";

  /** About this many records of the log, and not many more, are read into memory. */
  private static final int MOST_LOGGED = 50_000;

  private final DurableFiles files = DurableFiles.onDisk();
  private final Path folder;
  private final FileLock lock;
  private int logged;

  private SyncState(Path folder, FileLock lock) {
    this.folder = folder;
    this.lock = lock;
  }

  /**
   * Opens the state of a folder and an address, and locks it.
   *
   * @throws NexaException if another sync of the two is running
   */
  static SyncState open(Path root, S3Place place) throws IOException {
    return open(root, place, home(System.getenv()));
  }

  /**
   * Returns the user's folder of states. HOME comes before the home of /etc/passwd, which does not
   * exist for users such as nobody.
   */
  static Path home(Map<String, String> environment) {
    String typed = environment.getOrDefault("XDG_STATE_HOME", "");
    String home = environment.getOrDefault("HOME", "");
    return typed.isEmpty()
        ? Path.of(home.isEmpty() ? System.getProperty("user.home", "/") : home, ".local", "state")
        : Path.of(typed);
  }

  static SyncState open(Path root, S3Place place, Path home) throws IOException {
    return locked(folder(root, place, home), root, place);
  }

  /**
   * Opens the state in the user's home, because the disk of the folder is full.
   *
   * @throws NexaException if another sync of the two is running, or the home cannot hold the state
   */
  static SyncState openElsewhere(Path root, S3Place place) throws IOException {
    Path lock = root.resolve(FOLDER).resolve(name(place)).resolve("lock");
    Optional<String> holder =
        Files.exists(lock) ? Optional.of(Files.readString(lock)) : Optional.empty();
    if (holder.isPresent() && !LockOwner.provenDead(holder.get())) {
      throw busy(root, place, lock, holder.get());
    }
    return locked(elsewhere(root, place, home(System.getenv())), root, place);
  }

  private static SyncState locked(Path folder, Path root, S3Place place) throws IOException {
    try {
      Path file = folder.resolve("lock");
      Duration patience = Duration.ofMillis(500);
      FileLock lock = FileLock.acquire(file, LockOwner.me(), LockOwner::provenDead, patience);
      SyncState state = new SyncState(folder, lock);
      try {
        for (String name : List.of("parts", "uploads")) {
          Files.createDirectories(folder.resolve(name));
        }
        state.removeTemporaries();
        state.merge();
        return state;
      } catch (IOException | RuntimeException failed) {
        state.close();
        throw failed;
      }
    } catch (FileLock.LockedException locked) {
      throw busy(root, place, folder.resolve("lock"), locked.holder());
    }
  }

  private static NexaException busy(Path root, S3Place place, Path lock, String holder) {
    return ErrorCode.WORKSPACE_BUSY.error(
        "another sync of %s with %s is running: %s"
            .formatted(root, place.address(), LockOwner.words(holder)),
        "wait until it ends; if its host is gone, delete " + lock);
  }

  /** Returns the name of the state's folder: one for each user and address. */
  private static String name(S3Place place) {
    String user = System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9_.-]", "_");
    return user + "-" + Sha256.of(place.identity()).substring(0, 12);
  }

  private static Path folder(Path root, S3Place place, Path home) throws IOException {
    Path here = root.resolve(FOLDER);
    try {
      Files.createDirectory(here);
      // Like /tmp: each user makes a folder there, and no other user can remove it.
      Files.setAttribute(here, "unix:mode", 01777);
    } catch (IOException failed) {
      if (FullDisk.isCause(failed)) {
        throw failed;
      }
      // The folder exists, or the folder above it is read-only: ours() finds out which.
    }
    Optional<Path> ours = ours(here.resolve(name(place)));
    return ours.isPresent() ? ours.get() : elsewhere(root, place, home);
  }

  private static Path elsewhere(Path root, S3Place place, Path home) throws IOException {
    Path here = root.resolve(FOLDER);
    Path elsewhere =
        home.resolve("nexa-slurm")
            .resolve("sync")
            .resolve(Sha256.of(root.toString()).substring(0, 12));
    try {
      Files.createDirectories(elsewhere);
    } catch (IOException failed) {
      throw nowhere(here, elsewhere, ": " + DurableFiles.reason(failed));
    }
    return ours(elsewhere.resolve(name(place))).orElseThrow(() -> nowhere(here, elsewhere, ""));
  }

  private static NexaException nowhere(Path here, Path elsewhere, String reason) {
    return ErrorCode.PATH_UNUSABLE.error(
        "the record of a sync can be written neither in " + here + " nor in " + elsewhere + reason,
        "name a folder that you may write, and type the command again:"
            + " export XDG_STATE_HOME=DIR");
  }

  /** Makes a folder that only this user can read; empty if it is not ours or cannot be written. */
  private static Optional<Path> ours(Path folder) throws IOException {
    try {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException there) {
      // An earlier sync made it.
    } catch (FileSystemException unwritable) {
      if (FullDisk.isCause(unwritable)) {
        throw unwritable;
      }
      return Optional.empty();
    }
    boolean ours =
        Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
            && Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                .equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))
            && Files.isWritable(folder);
    return ours ? Optional.of(folder) : Optional.empty();
  }

  /** Removes the plans of syncs that were killed. */
  private void removeTemporaries() {
    DurableFiles.list(folder, "plan-*.tmp").forEach(files::unmark);
  }

  private void merge() throws IOException {
    Path log = folder.resolve("log");
    if (!Files.exists(log)) {
      return;
    }
    try (SortedLines records = records();
        StagedFile state = new StagedFile(folder.resolve("state"))) {
      while (records.hasNext()) {
        state.line(records.next().line());
      }
      state.commit();
    }
    Files.delete(log);
    logged = 0;
  }

  Path folder() {
    return folder;
  }

  Path parts() {
    return folder.resolve("parts");
  }

  Path uploads() {
    return folder.resolve("uploads");
  }

  /** Opens all records, sorted. */
  SortedLines records() throws IOException {
    return new SortedLines(folder.resolve("state"), folder.resolve("log"));
  }

  /** Adds records, durably. */
  void add(List<Synced> records) {
    String lines =
        records.stream().map(record -> record.line() + "\n").collect(Collectors.joining());
    files.append(folder.resolve("log"), lines);
    logged += records.size();
    if (logged >= MOST_LOGGED) {
      DurableFiles.attempt("write", folder.resolve("state"), () -> merge());
    }
  }

  /** Adds lines to the journal, durably. */
  void journal(String lines) {
    files.append(folder.resolve("journal.jsonl"), lines);
  }

  @Override
  public void close() {
    lock.close();
  }

  /**
   * Writes finished files into the state. Files that several threads finish meanwhile share one
   * fsync of each folder and one fsync of the log.
   *
   * <p>After a kill, the next sync compares the files that were not written yet by their digests.
   */
  static final class Settled implements Closeable {
    /** How long files are gathered: each fsync holds up the threads that force files to disk. */
    private static final long GATHER = TimeUnit.MILLISECONDS.toNanos(100);

    private final SyncState state;
    private final Thread writer;
    private List<Synced> records = new ArrayList<>();
    private Set<Path> folders = new LinkedHashSet<>();
    private boolean closed;
    private @Nullable Exception failure;

    Settled(SyncState state) {
      this.state = state;
      this.writer = SyncRun.daemons("sync-state").newThread(this::write);
      writer.start();
    }

    /**
     * Adds a finished file.
     *
     * @param changed the folders whose names must be on disk before the record is
     */
    synchronized void add(Synced record, List<Path> changed) {
      records.add(record);
      folders.addAll(changed);
      notifyAll();
    }

    private void write() {
      try {
        while (true) {
          List<Synced> done;
          Set<Path> dirty;
          synchronized (this) {
            while (records.isEmpty() && !closed) {
              wait();
            }
            long until = System.nanoTime() + GATHER;
            for (long left = GATHER; left > 0 && !closed; left = until - System.nanoTime()) {
              TimeUnit.NANOSECONDS.timedWait(this, left);
            }
            if (records.isEmpty()) {
              return;
            }
            done = records;
            dirty = folders;
            records = new ArrayList<>();
            folders = new LinkedHashSet<>();
          }
          for (Path folder : dirty) {
            Sync.DISK.force(folder);
          }
          state.add(done);
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      } catch (IOException | RuntimeException failed) {
        synchronized (this) {
          failure = failed;
        }
      }
    }

    /** Waits until all records are on disk. */
    @Override
    public void close() throws IOException {
      synchronized (this) {
        closed = true;
        notifyAll();
      }
      try {
        writer.join();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
      synchronized (this) {
        if (failure instanceof RuntimeException failed) {
          throw failed;
        }
        if (failure instanceof IOException failed) {
          throw failed;
        }
      }
    }
  }
}
