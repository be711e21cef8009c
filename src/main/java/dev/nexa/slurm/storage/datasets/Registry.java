package dev.nexa.slurm.storage.datasets;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.FileModes;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.job.config.run.DatasetRegistry;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.records.runs.LockOwner;
import dev.nexa.slurm.storage.datasets.VersionFiles.DatasetFile;
import dev.nexa.slurm.storage.datasets.VersionFiles.FileReading;
import dev.nexa.slurm.storage.datasets.VersionFiles.FileTree;
import dev.nexa.slurm.storage.tiers.MakeFolders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The registry of datasets on a durable tier, {@code manifests/dataset_registry.yaml}, and the
 * lists of files beside it. It need not exist.
 *
 * <p>Many users and hosts share it. A change reads the registry under a lock, replaces it
 * atomically, and touches only the lines of its own version.
 *
 * @param patience how long a change waits for another one
 */
public record Registry(Storage tiers, DurableFiles files, Duration patience) {
  private static final String FILES = "files";
  private static final Pattern PREFIX = Pattern.compile("[0-9a-f]{4,64}");
  private static final Pattern LIST = Pattern.compile("(.+)@v([1-9]\\d{0,8})\\.json");

  /** Returns the path of the registry. */
  public Path file() {
    return Path.of(tiers.durable()).resolve(DatasetRegistry.FILE);
  }

  private Path lists() {
    return file().resolveSibling("datasets");
  }

  /** Returns the path of a version's list of files. */
  public Path list(DatasetVersion version) {
    return lists().resolve(version.listName());
  }

  /** Returns the path of a version's data. */
  public Path data(DatasetVersion version) {
    return Path.of(version.path(tiers));
  }

  private String text() {
    return new ConfigSource(Path.of(tiers.durable()))
        .optional(file().toString(), DatasetRegistry.MAX_BYTES)
        .map(ConfigSource.Found::text)
        .orElse("");
  }

  /**
   * Returns all versions by the names of their datasets, in the order of the file. An entry that a
   * person wrote may have no versions.
   *
   * @throws dev.nexa.slurm.job.config.yaml.ConfigException if the file is not a registry
   */
  public Map<String, List<DatasetVersion>> read() {
    return read(text());
  }

  private Map<String, List<DatasetVersion>> read(String text) {
    List<Problem> problems = new ArrayList<>();
    Map<String, List<DatasetVersion>> read =
        DatasetRegistry.read(file().toString(), text, problems);
    Problem.throwIfAny(problems);
    return read;
  }

  /**
   * Returns the version that a person named.
   *
   * @param reference {@code NAME@v3}, {@code NAME@} and the beginning of its root, or {@code NAME}
   *     for the newest version
   * @throws NexaException if there is no such version, or if several fit
   */
  public DatasetVersion find(String reference) {
    Map<String, List<DatasetVersion>> known = read();
    int at = reference.indexOf('@');
    String name = at < 0 ? reference : reference.substring(0, at);
    String version = at < 0 ? "" : reference.substring(at + 1);
    int colon = reference.indexOf(':');
    if (!known.containsKey(name) && known.containsKey(reference.substring(0, Math.max(0, colon)))) {
      throw ErrorCode.DATASET_UNKNOWN.error(
          "'" + VisibleText.line(reference) + "' has a colon; expected NAME@VERSION",
          Advice.instead(reference, reference.replaceFirst(":", "@")));
    }
    if (!known.containsKey(name)) {
      throw ErrorCode.DATASET_UNKNOWN.error(
          "there is no dataset '%s' in %s%s"
              .formatted(VisibleText.line(name), file(), Nearest.hint(name, known.keySet())),
          Advice.command("shows all datasets", "nexa-slurm datasets list"));
    }
    List<DatasetVersion> versions = known.getOrDefault(name, List.of());
    List<DatasetVersion> fitting = new ArrayList<>();
    for (DatasetVersion one : versions) {
      boolean prefix = PREFIX.matcher(version).matches() && one.root().startsWith(version);
      if (version.isEmpty() || one.version().equals(version) || prefix) {
        fitting.add(one);
      }
    }
    if (version.isEmpty() && !fitting.isEmpty()) {
      return newest(fitting);
    }
    if (fitting.size() == 1) {
      return fitting.get(0);
    }
    throw new NexaException(
        fitting.isEmpty() ? ErrorCode.DATASET_UNKNOWN : ErrorCode.REFERENCE_AMBIGUOUS,
        versions.isEmpty()
            ? "the dataset '%s' in %s has no versions: a person wrote its entry"
                .formatted(name, file())
            : "'%s' names %s; '%s' has %s"
                .formatted(
                    VisibleText.line(reference),
                    fitting.isEmpty() ? "no version" : "several versions",
                    name,
                    String.join(", ", versions.stream().map(DatasetVersion::version).toList())),
        versions.isEmpty()
            ? Advice.step("register its files: nexa-slurm datasets register PATH --name " + name)
            : Advice.command("shows their roots", "nexa-slurm datasets list", name));
  }

  private static DatasetVersion newest(List<DatasetVersion> versions) {
    return Collections.max(versions, Comparator.comparing(Registry::number));
  }

  private static int number(DatasetVersion version) {
    return Integer.parseInt(version.version().substring(1));
  }

  /**
   * The result of a change.
   *
   * @param version the version as the registry holds it now
   * @param added whether it is new
   * @param rewritten whether the dataset's entry was written again, without its comments
   * @param restored whether the version's list of files was lost or damaged, and was written again
   */
  public record Done(DatasetVersion version, boolean added, boolean rewritten, boolean restored) {}

  /**
   * Reads all files of a dataset and registers them as a version.
   *
   * @param name the dataset's name
   * @param version the version; empty for the next one
   * @param facts makes further keys of the version, after all files were read
   * @param read gets each file and its bytes
   * @return the version; an older one if the name has these bytes already, whatever version was
   *     asked for and wherever the bytes lie
   * @throws NexaException if the version exists and has other bytes
   */
  public Done register(
      TierPath data,
      String name,
      Optional<String> version,
      Supplier<JsonObject> facts,
      FileReading read,
      Progress progress) {
    requireName(name);
    makeLists();
    DurableFiles.sweepDead(lists(), Instant.now());
    // Its name says which process makes it, so that the next registration can remove what a dead
    // process has left.
    Path list = DurableFiles.temporary(lists().resolve("register"));
    DurableFiles.attempt("write to", lists(), () -> Files.createFile(list));
    try {
      VersionFiles.Totals totals;
      try (Running reading = progress.begin(Phase.of("reading", FILES))) {
        totals = VersionFiles.write(data.real(), list, read, reading);
      }
      if (totals.files() == 0) {
        throw ErrorCode.DATA_INVALID.error(
            data.real() + " holds no file: an empty dataset cannot be registered",
            Advice.command("shows what is there", "ls", "-la", data.real()));
      }
      JsonObject more = facts.get();
      return locked(() -> add(data, name, version, more, totals, list));
    } finally {
      files.unmark(list);
    }
  }

  /** Makes the folder of the lists as writable as the tier: other users register there too. */
  private void makeLists() {
    Path durable = Path.of(tiers.durable());
    for (Path folder : List.of(file().resolveSibling(""), lists())) {
      try {
        if (!Files.isDirectory(folder)) {
          MakeFolders.inTier(durable, folder);
        }
      } catch (FileAlreadyExistsException other) {
        // Another process has just made it, or the folder is a link.
      } catch (IOException failed) {
        throw DurableFiles.failure("make", folder, failed);
      }
    }
  }

  /** Returns the next number, above all versions and all lists: a number never gets other bytes. */
  private String next(String name, List<DatasetVersion> versions) {
    int newest = versions.isEmpty() ? 0 : number(newest(versions));
    for (Path list : DurableFiles.list(lists(), "*")) {
      Matcher one = LIST.matcher(list.getFileName().toString());
      if (one.matches() && one.group(1).equals(name)) {
        newest = Math.max(newest, Integer.parseInt(one.group(2)));
      }
    }
    return "v" + (newest + 1);
  }

  private Done add(
      TierPath data,
      String name,
      Optional<String> asked,
      JsonObject facts,
      VersionFiles.Totals totals,
      Path list) {
    String before = text();
    List<DatasetVersion> versions = read(before).getOrDefault(name, List.of());
    for (DatasetVersion one : versions) {
      if (asked.equals(Optional.of(one.version())) && !one.root().equals(totals.root())) {
        throw ErrorCode.FILE_EXISTS.error(
            one.reference() + " is registered already, with other bytes: a version never changes",
            "leave --as out; the next version gets a number of its own");
      }
    }
    Optional<DatasetVersion> same = same(versions, totals.root(), data.written());
    if (same.isPresent()) {
      return new Done(same.get(), false, false, restored(same.get(), list));
    }
    DatasetVersion version =
        DatasetVersion.registered(
            name,
            asked.orElseGet(() -> next(name, versions)),
            data.written(),
            totals.root(),
            totals.bytes(),
            totals.files(),
            totals.newest(),
            facts);
    RegistryText.Changed changed = RegistryText.with(file().toString(), before, version);
    requireSize(changed.text());
    // A list without a version is left of a process that died here. Nothing refers to it.
    files.unmark(list(version));
    if (!files.claim(list(version), out -> Files.copy(list, out), "r--r--r--")) {
      throw ErrorCode.CONCURRENT_CHANGE.error(
          list(version) + " appeared while its dataset was registered", "type the command again");
    }
    replace(changed.text());
    return new Done(version, true, changed.rewritten(), false);
  }

  /**
   * Returns the version with these bytes. Registries of earlier days can have several; the path
   * then decides, and after it that a version is not retired.
   */
  private static Optional<DatasetVersion> same(
      List<DatasetVersion> versions, String root, String path) {
    return versions.stream()
        .filter(one -> one.root().equals(root))
        .min(
            Comparator.comparing((DatasetVersion one) -> !one.path().equals(path))
                .thenComparing(one -> one.status() == DatasetVersion.Status.RETIRED)
                .thenComparing(Registry::number));
  }

  /** Writes a version's list again if it is lost or damaged; the new list has the same root. */
  private boolean restored(DatasetVersion version, Path list) {
    Path kept = list(version);
    try {
      listed(version).close();
      return false;
    } catch (NexaException lost) {
      files.unmark(kept);
      if (!files.claim(kept, out -> Files.copy(list, out), "r--r--r--")) {
        throw lost;
      }
      return true;
    }
  }

  /**
   * Replaces a version by what a function makes of it.
   *
   * @param change sees the version as the registry holds it now
   */
  public Done change(DatasetVersion version, Function<DatasetVersion, DatasetVersion> change) {
    return locked(
        () -> {
          DatasetVersion now = find(version.reference());
          DatasetVersion next = change.apply(now);
          if (next.json().toString().equals(now.json().toString())) {
            return new Done(now, false, false, false);
          }
          RegistryText.Changed changed = RegistryText.with(file().toString(), text(), next);
          requireSize(changed.text());
          replace(changed.text());
          return new Done(next, false, changed.rewritten(), false);
        });
  }

  private void requireSize(String text) {
    if (text.getBytes(StandardCharsets.UTF_8).length > DatasetRegistry.MAX_BYTES) {
      throw ErrorCode.FILE_TOO_LARGE.error(
          file() + " would become larger than 3 MiB, the most that is read",
          "use a durable tier of its own for each project, or remove retired entries");
    }
  }

  private void replace(String text) {
    if (Files.isSymbolicLink(file())) {
      throw ErrorCode.FILE_NOT_REGULAR.error(
          file() + " is a link, and the folder is one that others can write to; nothing changed",
          "put the registry itself in the place of the link");
    }
    try {
      files.replace(file(), text.getBytes(StandardCharsets.UTF_8), FileModes.USUAL);
    } catch (UncheckedIOException failed) {
      throw ErrorCode.IO_FAILED.error(
          failed.getMessage() + "; the registry is as it was",
          failed,
          Advice.step(
              "each user must be able to write to "
                  + file().resolveSibling("")
                  + ": its group needs the right, and the folder must not be sticky (`nexa-slurm explain docs/teams.md`)"));
    }
  }

  private Done locked(Supplier<Done> change) {
    files.directories(file().resolveSibling(""));
    Path lock = file().resolveSibling(".dataset_registry.lock");
    try (FileLock held = FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, patience)) {
      Done done = change.get();
      held.clearClaims(LockOwner::dead);
      return done;
    } catch (FileLock.LockedException busy) {
      throw ErrorCode.WORKSPACE_BUSY.error(
          "another process changes the registry of datasets: " + busy.getMessage(),
          busy,
          Advice.step("type the command again; a lock of a dead host ends after an hour"));
    }
  }

  /** Refuses a name that is no name of a dataset. */
  public static void requireName(String name) {
    if (!DatasetVersion.NAME.matcher(name).matches()) {
      throw ErrorCode.OPTION_INVALID.error(
          ("--name: expected up to 63 letters, digits, '.', '_' and '-', beginning with a letter"
                  + " or a digit, got '%s'")
              .formatted(VisibleText.line(name)));
    }
  }

  /**
   * Compares a version's files with its list.
   *
   * @param checksums whether to read all bytes; otherwise only names and sizes are compared
   * @param each receives each difference
   */
  public void verify(
      DatasetVersion version, boolean checksums, Consumer<FileChange> each, Progress progress) {
    Path data = data(version);
    Optional<TierPath> real = Optional.empty();
    if (Files.exists(data)) {
      real = Optional.of(TierPath.of(data.toString(), data, tiers));
      if (!real.get().written().equals(version.path())) {
        throw ErrorCode.FILE_OUTSIDE_FOLDER.error(
            data + " is a link to " + real.get().real() + " now, which is not what was registered",
            "put the data back, or register the other folder as a new version");
      }
    }
    Phase phase = Phase.of("verifying", FILES, version.files());
    try (Stream<DatasetFile> before = listed(version);
        Running verifying = progress.begin(checksums ? phase.withBytes(version.bytes()) : phase)) {
      Iterator<FileTree.Found> tree =
          real.isPresent() ? new FileTree(real.get().real()) : Collections.emptyIterator();
      compare(
          before.iterator(),
          () -> next(tree).map(found -> Now.of(found, verifying)),
          checksums,
          each,
          verifying);
    }
  }

  /**
   * Compares the lists of files of two versions.
   *
   * @param each receives each difference: how the second version differs from the first
   */
  public void compare(DatasetVersion one, DatasetVersion other, Consumer<FileChange> each) {
    try (Stream<DatasetFile> before = listed(one);
        Stream<DatasetFile> after = listed(other)) {
      Iterator<DatasetFile> others = after.iterator();
      compare(
          before.iterator(),
          () -> next(others).map(file -> new Now(file.path(), file.bytes(), file::sha256)),
          true,
          each,
          (files, bytes) -> {});
    }
  }

  /**
   * Opens the list of a version. It was checked as a whole before: differences from a list that
   * somebody changed say nothing.
   */
  private Stream<DatasetFile> listed(DatasetVersion version) {
    return VersionFiles.open(list(version), version.reference(), version.root());
  }

  /** A file in its current state. Its bytes are read when its digest is asked for. */
  private record Now(String path, long bytes, Supplier<String> sha256) {
    static Now of(FileTree.Found found, Running verifying) {
      return new Now(
          found.path(),
          found.attributes().size(),
          () -> FileTree.read(found, read -> {}, verifying).sha256());
    }
  }

  /**
   * Walks a list and the files of now side by side, both in order, so that neither is in memory.
   *
   * @param comparing gets the files whose digest is not asked for; who reads a file reports it
   */
  private static void compare(
      Iterator<DatasetFile> before,
      Supplier<Optional<Now>> after,
      boolean checksums,
      Consumer<FileChange> each,
      Running comparing) {
    Optional<DatasetFile> old = next(before);
    Optional<Now> now = after.get();
    while (old.isPresent() || now.isPresent()) {
      int order =
          old.isEmpty()
              ? 1
              : now.isEmpty() ? -1 : NamesOfFiles.ORDER.compare(old.get().path(), now.get().path());
      if (order > 0) {
        each.accept(FileChange.added(now.get().path(), now.get().bytes()));
      } else if (order < 0) {
        comparing.done(1, old.get().bytes());
        each.accept(FileChange.missing(old.get()));
      } else if (old.get().bytes() != now.get().bytes()) {
        comparing.done(1, old.get().bytes());
        each.accept(FileChange.size(now.get().path(), old.get().bytes(), now.get().bytes()));
      } else if (checksums) {
        String sha256 = now.get().sha256().get();
        if (!sha256.equals(old.get().sha256())) {
          each.accept(FileChange.content(now.get().path(), old.get().sha256(), sha256));
        }
      } else {
        comparing.done(1, 0);
      }
      old = order <= 0 ? next(before) : old;
      now = order >= 0 ? after.get() : now;
    }
  }

  private static <T> Optional<T> next(Iterator<T> files) {
    return files.hasNext() ? Optional.of(files.next()) : Optional.empty();
  }
}
