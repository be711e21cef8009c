package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.FileOwner;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.program.DuckDb;
import dev.nexa.slurm.base.program.ProgramFile;
import dev.nexa.slurm.records.approvals.UnixUser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The folder that holds configs and runs (docs/architecture.md shows its tree). This class finds
 * and makes its files, its runs and its locks.
 */
public final class Workspace {
  /** The length of {@code _yyyyMMdd_HHmmss} in a run's id. */
  private static final int TIME_LENGTH = 16;

  /** The name of a user is a word of a command that root is told to type. */
  private static final String LEDGER_OF_A_MEMBER =
      "ledger-.{7}\\.([A-Za-z_][A-Za-z0-9_.@-]*)\\.jsonl";

  /** Name of the folder with the archives of packed code. */
  private static final String CODE = "code";

  /** Name of the folder with our own program. */
  private static final String PROGRAMS = "programs";

  private final Path root;
  private final DurableFiles files;
  private final Map<Path, String> digests = new HashMap<>();

  /**
   * Creates a workspace.
   *
   * @param root the folder; it need not exist
   * @param files writes the files
   */
  public Workspace(Path root, DurableFiles files) {
    this.root = root.toAbsolutePath().normalize();
    this.files = files;
  }

  /** Returns the workspace's folder, absolute and normalized. */
  public Path root() {
    return root;
  }

  /** Returns the writer of the workspace's files. */
  public DurableFiles files() {
    return files;
  }

  /** Returns the folder {@code runs}. */
  public Path runs() {
    return root.resolve("runs");
  }

  Path open() {
    return runs().resolve("open");
  }

  /** Returns the folder of manifests and cost files. */
  public Path manifests() {
    return runs().resolve("manifests");
  }

  /**
   * Returns the path of the estimate that an approver signs.
   *
   * @param digest the digest of its plan
   */
  public Path estimate(String digest) {
    return own(estimates(), digest, ".json");
  }

  /**
   * Returns whether several users make runs here. The modes of the folder {@code runs} say so
   * (docs/teams.md).
   */
  public boolean isShared() {
    return runsOwner().filter(FileOwner::shared).isPresent();
  }

  /**
   * Returns the path of a file that each user has one of. For the owner of {@code runs} it is
   * {@code STEM + END}; for another user of a shared workspace, {@code STEM.USER + END}.
   */
  public Path own(Path folder, String stem, String end) {
    String user = isShared() && !isOwn() ? "." + UnixUser.me().user() : "";
    return folder.resolve(stem + user + end);
  }

  /** Returns whether the workspace is this user's own: private, or a team's that this user owns. */
  public boolean isOwn() {
    Optional<FileOwner> owner = runsOwner();
    return owner.isEmpty()
        || DurableFiles.attempt("read the owner of", runs(), () -> owner.get().isMe());
  }

  /** Returns the owner of the folder {@code runs}; empty if it is missing or has none. */
  private Optional<FileOwner> runsOwner() {
    try {
      return Optional.of(FileOwner.of(runs()));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException none) {
      return Optional.empty();
    }
  }

  /**
   * Returns the login name of the owner of a file or folder, or the user id of an unknown user.
   * Does not follow links.
   */
  public static String ownerOf(Path path) {
    try {
      return Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName();
    } catch (UnsupportedOperationException noOwners) {
      return UnixUser.me().user();
    } catch (IOException failed) {
      throw DurableFiles.failure("read the owner of", path, failed);
    }
  }

  /** Returns whether a file or folder belongs to another user; false if it is gone. */
  public static boolean isOfAnotherUser(Path path) {
    try {
      return !FileOwner.isMine(path);
    } catch (NoSuchFileException gone) {
      return false;
    } catch (IOException failed) {
      throw DurableFiles.failure("read the owner of", path, failed);
    }
  }

  /** Returns whether the workspace is private, and another user's. */
  public boolean isAnothers() {
    return !isShared() && !isOwn();
  }

  /**
   * Returns whose ledgers are here beside the owner's although the workspace is not shared: it was,
   * and a copy or a backup has lost its modes. Empty for any other workspace.
   */
  public List<String> unsharedMembers() {
    return isShared()
        ? List.of()
        : DurableFiles.list(runs(), "ledger-????-??.*.jsonl").stream()
            .map(ledger -> ledger.getFileName().toString())
            .filter(name -> name.matches(LEDGER_OF_A_MEMBER))
            .map(name -> name.replaceFirst(LEDGER_OF_A_MEMBER, "$1"))
            .distinct()
            .toList();
  }

  /**
   * Checks that a run or a pipeline is this user's.
   *
   * @param id its id, for the message
   * @throws NexaException with {@link ErrorCode#RUN_OF_ANOTHER_USER}
   */
  static void requireOwn(String id, Path path) {
    if (isOfAnotherUser(path)) {
      String owner = ownerOf(path);
      boolean gone = owner.matches("\\d+"); // a user id without an account
      throw ErrorCode.RUN_OF_ANOTHER_USER.error(
          id + " belongs to " + owner + ": only that user can change it",
          Advice.step(
              gone
                  ? "its user has no account: `nexa-slurm doctor leftovers` says how it gets a successor"
                  : "ask " + owner + "; root types: runuser -u " + owner + " -- nexa-slurm …"));
    }
  }

  /**
   * Returns a folder in {@code runs} that only the workspace's owner writes.
   *
   * @throws UncheckedIOException if another user has put it there
   */
  public Path ofOwner(String name) {
    Path folder = runs().resolve(name);
    if (isShared()
        && Files.exists(folder, LinkOption.NOFOLLOW_LINKS)
        && !ownerOf(folder).equals(ownerOf(runs()))) {
      throw DurableFiles.failure(
          "use",
          folder,
          new FileSystemException(folder.toString(), null, "another user has put it there"));
    }
    return folder;
  }

  /** Returns the link to the user's newest run. */
  private Path latestLink() {
    return own(runs(), "latest", "");
  }

  /** Returns the lock that the user's own part of the ledger is written under. */
  public Path ledgerLock() {
    return own(runs(), ".ledger", ".lock");
  }

  /** Returns the folder of estimates that wait for an approval. */
  public Path estimates() {
    return root.resolve("estimates");
  }

  /** Returns the archive of packed code with this digest; it need not exist. */
  Path codeArchive(String sha256) {
    return root.resolve(CODE).resolve(sha256 + ".tar.gz");
  }

  /**
   * Stores an archive of packed code under its digest, durably and read-only. An archive that is
   * there already is read and kept. Several processes may store the same archive at once.
   *
   * @param sha256 the SHA-256 of the content
   * @throws NexaException if another file has the archive's name
   */
  public void storeCode(String sha256, DurableFiles.Content content) {
    Path archive = codeArchive(sha256);
    files.directories(root.resolve(CODE));
    if (!Files.exists(archive) && files.claim(archive, content, "r--------")) {
      return;
    }
    String found = DurableFiles.attempt("read", archive, () -> Sha256.of(archive));
    if (!found.equals(sha256)) {
      throw ErrorCode.FILE_CHANGED.error(
          archive + " is not what its name says: its SHA-256 is " + found,
          Advice.command("removes it; then submit again", "rm", "-f", archive),
          Advice.step("no job was made"));
    }
    files.force(root.resolve(CODE));
  }

  /** Returns the folder of pipelines. */
  public Path pipelines() {
    return root.resolve("pipelines");
  }

  /**
   * Returns a pipeline; it need not exist.
   *
   * @throws NexaException if the text is no pipeline's id
   */
  public PipelineFolder pipeline(String id) {
    return new PipelineFolder(this, id);
  }

  /** Makes the folder of a new pipeline with the next free id. */
  public PipelineFolder claimPipeline(Instant now) {
    files.directories(pipelines().resolve(PipelineFolder.OPEN));
    for (int n = 1; n < 10_000; n++) {
      PipelineFolder pipeline = pipeline(PipelineFolder.id(now, n));
      if (files.claimDirectory(pipeline.path())) {
        files.force(pipelines());
        return pipeline;
      }
    }
    throw new IllegalStateException("10,000 pipelines in one second");
  }

  /** Returns the pipelines that have not ended, oldest first. */
  public List<PipelineFolder> openPipelines() {
    return pipelines(pipelines().resolve(PipelineFolder.OPEN));
  }

  /** Returns all pipelines, oldest first. */
  public List<PipelineFolder> allPipelines() {
    return pipelines(pipelines());
  }

  private List<PipelineFolder> pipelines(Path folder) {
    return ids(folder, "").stream()
        .map(id -> pipeline(id.value()))
        .filter(PipelineFolder::exists)
        .toList();
  }

  /** Returns the folder of our own program with this digest; it need not exist. */
  Path program(String sha256) {
    return root.resolve(PROGRAMS).resolve(sha256);
  }

  /**
   * Stores our own program under its jar's digest, durably and read-only. Files that are there
   * already are read and kept. Several processes may store the same program at once.
   *
   * @param program its files; the first one is our jar
   * @throws NexaException if a file there has other bytes
   */
  public void storeProgram(List<ProgramFile> program) {
    Path folder = program(program.get(0).sha256());
    files.directories(folder);
    if (isOfAnotherUser(folder)) {
      // Its user's submit has written it; the job starts a checked copy
      // (templates/lib/program.ftl).
      program.forEach(file -> file.requireIn(folder));
      return;
    }
    program.forEach(file -> file.layIn(folder, files));
    files.force(folder);
  }

  /**
   * Returns the SHA-256 of a file that many runs share, such as our own program. Reads it once in
   * this process.
   *
   * @throws IOException if the file cannot be read
   */
  String knownDigest(Path file) throws IOException {
    synchronized (digests) {
      String known = digests.get(file);
      if (known == null) {
        known = Sha256.of(file);
        digests.put(file, known);
      }
      return known;
    }
  }

  /** Returns the folder of a run; it need not exist. */
  public RunFolder run(RunId id) {
    return new RunFolder(this, id);
  }

  /**
   * Makes the folder of a new run with the stage's next free id. Only one process can make a
   * folder.
   */
  public RunFolder claim(String stage, Instant now) {
    files.directories(state());
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

  /**
   * Gives a new run the stage's next free id. The id is entered in {@code runs/open} first, so that
   * a pass finds the run if this process crashes. The caller makes its folder.
   *
   * @param tiers storage tiers on which no other workspace's run may have the name
   */
  public RunFolder name(String stage, Instant now, StorageClaims tiers) {
    files.directories(state());
    files.directories(open());
    files.directories(manifests());
    String me = LockOwner.me() + " " + Thread.currentThread().getId() + " 0";
    for (int n = 1; n < 10_000; n++) {
      RunFolder run = run(RunId.of(stage, now, n));
      if (!run.exists() && !tiers.taken(run) && files.claim(open().resolve(run.id().value()), me)) {
        forceOrGiveUp(open(), run);
        return run;
      }
    }
    throw new IllegalStateException("10,000 runs of one stage in one second");
  }

  /**
   * Makes the folder of a run that {@link #name} has named, and reserves its name on the tiers.
   *
   * @return false if another run has the name; the run is then given up
   */
  public boolean make(RunFolder run, StorageClaims tiers) {
    if (!run.make()) {
      markClosed(run.id());
      return false;
    }
    if (!tiers.take(run)) {
      giveUp(run);
      return false;
    }
    forceOrGiveUp(runs(), run);
    return true;
  }

  /** Syncs a directory. If that fails, it frees the name, because this process will not use it. */
  private void forceOrGiveUp(Path directory, RunFolder run) {
    try {
      files.force(directory);
    } catch (UncheckedIOException failed) {
      giveUp(run);
      throw failed;
    }
  }

  /** Frees the name of a run that has at most an empty folder. */
  public void giveUp(RunFolder run) {
    markClosed(run.id());
    try {
      files.removeEmpty(run.path());
    } catch (UncheckedIOException failing) {
      // The folder is gone, or it is empty and harmless.
    }
  }

  /** Returns whether the process that named the run lives, as far as this host can tell. */
  boolean makerLives(RunId id) {
    Path mark = open().resolve(id.value());
    try {
      String maker = Files.exists(mark) ? DurableFiles.read(mark) : "";
      return !maker.isBlank() && !LockOwner.dead(maker);
    } catch (UncheckedIOException closed) {
      return false;
    }
  }

  /**
   * Refuses a workspace whose path has a backslash, because Slurm then expands no pattern in a
   * log's name.
   *
   * @throws NexaException if the path has a backslash
   */
  public void requirePathForLogs() {
    String path = runs().toAbsolutePath().normalize().toString();
    if (path.indexOf('\\') >= 0) {
      throw ErrorCode.PATH_UNUSABLE.error(
          "a backslash in " + path + ": Slurm would not expand %j and %a in the names of logs",
          Advice.step("use a workspace without one: --workspace DIR"));
    }
  }

  /**
   * Removes temporary files and locks of dead processes. Folders that grow with the number of runs
   * are searched once an hour. A run's own folder is cleaned under the run's lock.
   */
  public void sweep(Instant now) {
    if (stateForWriting().isEmpty()) {
      return;
    }
    DurableFiles.sweepDead(state(), now);
    DurableFiles.sweepDead(open(), now);
    for (String lock : List.of("import.lock", "budgets.lock", "accounting.lock", "cleanup.lock")) {
      clear(state().resolve(lock));
    }
    clear(ledgerLock());
    Path swept = state().resolve("swept");
    if (wasWritten(swept, now.minus(Duration.ofHours(1)), now)) {
      return;
    }
    DurableFiles.sweepDead(root, now);
    String folders =
        "runs runs/manifests runs/statements estimates code pipelines configs configs/clusters"
            + " configs/prices configs/data configs/train docs/schemas";
    for (String folder : folders.split(" ", -1)) {
      DurableFiles.sweepDead(root.resolve(folder), now);
    }
    sweepBills(now);
    sweepPrograms(now);
    sweepPipelines(now);
    files.replace(swept, now + "\n");
  }

  /** Removes the empty folders of pipelines whose submitter died an hour ago or earlier. */
  private void sweepPipelines(Instant now) {
    for (RunId id : ids(pipelines(), "")) {
      PipelineFolder pipeline = pipeline(id.value());
      boolean old =
          !pipeline.isOfAnotherUser()
              && !pipeline.exists()
              && DurableFiles.written(pipeline.path()).isBefore(now.minus(Duration.ofHours(1)));
      if (old) {
        pipeline.giveUp();
      }
    }
  }

  /**
   * Returns whether a cleanup of the tiers is due: at most one a day is. If it returns true, the
   * next one is due a day later.
   */
  public boolean cleanupIsDue(Instant now) {
    if (stateForWriting().isEmpty()) {
      return false;
    }
    Path cleaned = own(state(), "cleaned", "");
    if (wasWritten(cleaned, now.minus(Duration.ofDays(1)), now.plus(Duration.ofHours(1)))) {
      return false;
    }
    files.replace(cleaned, now + "\n");
    return true;
  }

  private static boolean wasWritten(Path mark, Instant after, Instant before) {
    Instant written = Files.exists(mark) ? DurableFiles.written(mark) : Instant.MIN;
    return written.isAfter(after) && written.isBefore(before);
  }

  /** A program has 100 MB, so what a killed submit left of one is worth removing. */
  private void sweepPrograms(Instant now) {
    try (DirectoryStream<Path> programs = Files.newDirectoryStream(root.resolve(PROGRAMS))) {
      for (Path program : programs) {
        if (FileOwner.isMine(program)) {
          DurableFiles.sweepDead(program, now);
          DurableFiles.sweepDead(program.resolve(DuckDb.FOLDER), now);
        }
      }
    } catch (IOException none) {
      // No run has used our own program.
    }
  }

  private void sweepBills(Instant now) {
    Path bills = runs().resolve("bills");
    if (isOfAnotherUser(bills)) {
      return;
    }
    try (DirectoryStream<Path> providers = Files.newDirectoryStream(bills)) {
      providers.forEach(provider -> DurableFiles.sweepDead(provider, now));
      clear(bills.resolve(".lock"));
    } catch (IOException none) {
      // No bill was imported.
    }
  }

  private static void clear(Path lock) {
    FileLock.clear(lock, LockOwner.me(), LockOwner::dead);
  }

  /** Marks the run as unfinished. Each pass reads it from now on. */
  public void markOpen(RunId id) {
    files.mark(open().resolve(id.value()));
  }

  /** Marks the run as finished. No pass reads it any more. */
  public void markClosed(RunId id) {
    files.unmark(open().resolve(id.value()));
  }

  /** Returns whether the run is unfinished. */
  public boolean isOpen(RunId id) {
    return Files.exists(open().resolve(id.value()));
  }

  /** Returns the unfinished runs, ordered by id. */
  public List<RunId> openRuns() {
    return ids(open(), "");
  }

  /** Returns every run that has a manifest or is unfinished, newest first. */
  public List<RunId> allRuns() {
    List<RunId> all = new ArrayList<>(ids(manifests(), ".json"));
    openRuns().stream().filter(id -> !all.contains(id)).forEach(all::add);
    all.sort(java.util.Comparator.comparing(Workspace::time).reversed());
    return all;
  }

  /**
   * Returns the runs of {@link #allRuns}, followed by runs that have only a folder or a cost file.
   * An audit reports what such runs lack.
   */
  public List<RunId> everyRun() {
    List<RunId> every = allRuns();
    Set<RunId> known = new HashSet<>(every);
    for (RunId id : ids(runs(), "")) {
      RunFolder run = run(id);
      if ((run.hasJournal() || Files.exists(run.plan())) && known.add(id)) {
        every.add(id);
      }
    }
    for (String name : runsWithCost()) {
      RunId.parse(name).filter(known::add).ifPresent(every::add);
    }
    return every;
  }

  /**
   * Returns the ids of all runs with a cost file. It reads only names, because a workspace may have
   * 100,000 runs.
   */
  public Set<String> runsWithCost() {
    Set<String> runs = new HashSet<>();
    for (Path file : DurableFiles.list(manifests(), "cost_*.json")) {
      String name = file.getFileName().toString();
      String id = name.substring("cost_".length(), name.length() - ".json".length());
      // Earlier versions end in .v1.json.
      if (id.indexOf('.') < 0) {
        runs.add(id);
      }
    }
    return runs;
  }

  /**
   * Returns the part of an id after the stage, which orders runs of different stages by time. The
   * suffix of a second run in one second is padded: _10 is newer than _9.
   */
  private static String time(RunId id) {
    String time = id.value().substring(id.value().indexOf('_'));
    return time.length() <= TIME_LENGTH
        ? time
        : time.substring(0, TIME_LENGTH)
            + " ".repeat(TIME_LENGTH + 5 - time.length())
            + time.substring(TIME_LENGTH + 1);
  }

  /** Returns every run of the stage that has a folder, even an empty one, ordered by id. */
  public List<RunId> claimed(String stage) {
    return ids(runs(), "").stream().filter(id -> id.value().startsWith(stage + "_")).toList();
  }

  /**
   * Takes the lock for imports, because two imports at once would adopt the same job.
   *
   * @param patience how long to wait for another holder
   * @return empty if another process still holds the lock
   */
  public Optional<FileLock> lockImport(Duration patience) {
    return lock("import.lock", patience);
  }

  /**
   * Takes the lock for reservations from budgets.
   *
   * @param patience how long to wait for another holder
   * @return empty if another process still holds the lock
   */
  public Optional<FileLock> lockBudgets(Duration patience) {
    return lock("budgets.lock", patience);
  }

  /**
   * Takes the lock for cleanups of the storage tiers.
   *
   * @param patience how long to wait for another holder
   * @return empty if another process still holds the lock
   */
  public Optional<FileLock> lockCleanup(Duration patience) {
    return lock("cleanup.lock", patience);
  }

  /**
   * Takes the lock for archives of runs.
   *
   * @param patience how long to wait for another holder
   * @return empty if another process still holds the lock
   */
  public Optional<FileLock> lockArchive(Duration patience) {
    return lock("archive.lock", patience);
  }

  private Optional<FileLock> lock(String name, Duration patience) {
    files.directories(runs());
    files.directories(state());
    return LockOwner.take(state().resolve(name), patience, () -> {});
  }

  /** Returns the folder of the nodes that submissions leave out; it need not exist. */
  public Path badNodes() {
    return state().resolve("bad_nodes");
  }

  /** Returns {@code .nexa}, the folder for the state of passes, which belongs to no run. */
  Path state() {
    return root.resolve(".nexa");
  }

  /**
   * Returns {@code .nexa}, and makes it if necessary; empty if there are no runs, or the workspace
   * may not be written.
   */
  Optional<Path> stateForWriting() {
    if (!Files.isDirectory(runs()) || !Files.isWritable(runs())) {
      return Optional.empty();
    }
    files.directories(state());
    return Optional.of(state());
  }

  /**
   * Takes the lock for accounting queries. Accounting serves the whole cluster, so a workspace
   * sends one query at a time.
   *
   * @param patience how long to wait for another holder
   * @return empty if the workspace may not be written; a reader of another user's workspace queries
   *     without a lock
   * @throws FileLock.LockedException if another process still holds the lock
   */
  public Optional<FileLock> askAccounting(Duration patience) {
    return stateForWriting()
        .map(state -> state.resolve("accounting.lock"))
        .map(lock -> FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, patience));
  }

  /** Points the user's {@code runs/latest} at the run. */
  public void linkLatest(RunId id) {
    // The temporary link is made in open/, because a sweep of runs/ is slow.
    files.link(latestLink(), root.getFileSystem().getPath(id.value()), open());
  }

  /**
   * Returns the run that {@code runs/latest} names: the user's newest run.
   *
   * @throws NexaException if there is no run
   */
  public RunId latest() {
    try {
      Path newest = Files.readSymbolicLink(latestLink());
      if (isShared() && !ownerOf(latestLink()).equals(UnixUser.me().user())) {
        throw new FileSystemException(newest.toString(), null, "another user has put it there");
      }
      return new RunId(newest.getFileName().toString());
    } catch (NoSuchFileException none) {
      throw ErrorCode.RUN_UNKNOWN.error(
          "there is no run " + (isShared() ? "of yours in " : "in ") + root,
          Advice.step("`nexa-slurm submit CONFIG` makes one"));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", latestLink(), failed);
    }
  }

  private static List<RunId> ids(Path directory, String suffix) {
    try (Stream<Path> entries = Files.list(directory)) {
      List<RunId> ids = new ArrayList<>();
      for (Path entry : (Iterable<Path>) entries::iterator) {
        String name = entry.getFileName().toString();
        if (name.endsWith(suffix)) {
          RunId.parse(name.substring(0, name.length() - suffix.length())).ifPresent(ids::add);
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
