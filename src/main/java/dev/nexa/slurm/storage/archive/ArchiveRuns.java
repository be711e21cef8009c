package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.Candidate;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Done;
import dev.nexa.slurm.storage.cleanup.WholeRun;
import dev.nexa.slurm.storage.sync.StoreException;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Archives runs: writes a bundle, compares it with the run's files, gives it its name, records it,
 * and only then moves the run's durable files into the trash of a cleanup.
 *
 * <p>After a crash the same call finishes the work: it finds the bundle by its document, compares
 * it with the run's files again, and goes on.
 */
public final class ArchiveRuns {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Workspace workspace;
  private final ArchivePlace place;
  private final CleanTiers clean;
  private final Progress progress;
  private final ArchiveJournal journal;

  /** The hidden file that is being written; null if there is none. */
  private final AtomicReference<@Nullable Path> writing = new AtomicReference<>();

  /**
   * Creates the use case.
   *
   * @param clean moves what was archived
   */
  public ArchiveRuns(Workspace workspace, ArchivePlace place, CleanTiers clean, Progress progress) {
    this.workspace = workspace;
    this.place = place;
    this.clean = clean;
    this.progress = progress;
    this.journal = new ArchiveJournal(workspace);
  }

  /**
   * The result for one run.
   *
   * @param archive the archive of the run; empty if it could not be made
   * @param cleanup the cleanup that moved the run's files; empty if no file was moved
   * @param failed why the run was not archived, or why its files are still in their place
   */
  public record Archived(
      WholeRun run,
      Optional<ArchiveFile> archive,
      Optional<String> cleanup,
      Optional<NexaException> failed) {}

  /**
   * Removes the bundle that is being written under its hidden name, because this process ends.
   *
   * @return whether there was one
   */
  public boolean abandon() {
    Path half = writing.getAndSet(null);
    try {
      return half != null && Files.deleteIfExists(half);
    } catch (IOException stays) {
      // `archive list` names it.
      return false;
    }
  }

  /** Takes the lock of all archives of the workspace. The caller holds it while it archives. */
  public static FileLock lock(Workspace workspace) {
    return workspace
        .lockArchive(PATIENCE)
        .orElseThrow(() -> CleanTiers.busy("another command archives or restores runs", workspace));
  }

  /**
   * Archives a run, and moves its durable files into the trash.
   *
   * @param run a run whose files may go
   * @param grace how long the files stay in the trash
   * @throws NexaException if no further run can be archived either: no credentials, no bucket
   */
  public Archived archive(WholeRun run, Duration grace, List<TierRoot> roots) {
    Optional<ArchiveFile> archive = Optional.empty();
    try {
      requireInPlace(run);
      Map<String, Path> sources = sources(run);
      SourceTree tree = SourceTree.of(sources);
      Runnable check = () -> tree.requireUnchanged(SourceTree.of(sources));
      archive = Optional.of(stored(run, sources, tree));
      ArchiveFile made = archive.get();
      made.record(workspace);
      workspace.files().passed(ArchiveStep.RECORDED);
      journal.stored(made);
      workspace.files().passed(ArchiveStep.JOURNALED);
      if (run.folders().isEmpty()) {
        check.run();
        return new Archived(run, archive, Optional.empty(), Optional.empty());
      }
      Done done = clean.move(run, grace, roots, Instant.now(), check);
      if (!done.failed().isEmpty()) {
        throw ErrorCode.CONCURRENT_CHANGE.error(
            done.failed().get(0).path() + " stays: " + done.failed().get(0).reason(),
            "the bundle " + made.where() + " is whole, and the run's files are in place",
            "when that reason is gone, type the command again: it moves the files and writes no"
                + " second bundle");
      }
      String cleanup = done.id().orElseThrow().value();
      journal.moved(made, cleanup);
      return new Archived(run, archive, Optional.of(cleanup), Optional.empty());
    } catch (NexaException failed) {
      if (failed.code() == ErrorCode.S3_REFUSED || failed.code() == ErrorCode.AWS_CREDENTIALS) {
        throw failed;
      }
      return new Archived(run, archive, Optional.empty(), Optional.of(failed));
    } catch (IOException | UncheckedIOException | StoreException failed) {
      return new Archived(run, archive, Optional.empty(), Optional.of(failure(failed)));
    }
  }

  /** The plan was made before the lock: another command may have archived the run meanwhile. */
  private void requireInPlace(WholeRun run) {
    for (Candidate folder : run.folders()) {
      if (!Files.exists(folder.full(), LinkOption.NOFOLLOW_LINKS)) {
        throw ErrorCode.CONCURRENT_CHANGE.error(
            ArchiveFile.of(workspace, run.run())
                .map(one -> "another command has archived it meanwhile, in " + one.where())
                .orElse("another command has moved " + folder.full() + " meanwhile"),
            Advice.command("shows the archives", "nexa-slurm archive list"));
      }
    }
  }

  private static NexaException failure(Exception failed) {
    if (failed instanceof StoreException refused) {
      return new NexaException(
          refused.code(),
          "S3: " + refused.getMessage(),
          Advice.step("nothing was removed; type the command again"));
    }
    String what =
        failed instanceof IOException io ? DurableFiles.reason(io) : "" + failed.getMessage();
    return ErrorCode.IO_FAILED.error(
        "the bundle could not be written: " + what,
        "nothing was removed; make room or fix the disk, and type the command again");
  }

  /** Returns what belongs to a run, by its first part of the path in the bundle. */
  private Map<String, Path> sources(WholeRun run) {
    RunFolder folder = workspace.run(run.run());
    Map<String, Path> sources = new LinkedHashMap<>();
    run.folders().forEach(one -> sources.put(one.path().getName(0).toString(), one.full()));
    add(sources, "manifest.json", folder.manifest());
    add(sources, "cost.json", folder.cost());
    add(sources, "run", folder.path());
    return sources;
  }

  private static void add(Map<String, Path> sources, String part, Path path) {
    if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      sources.put(part, path);
    }
  }

  private ArchiveFile stored(WholeRun run, Map<String, Path> sources, SourceTree tree)
      throws IOException {
    Optional<ArchiveFile> known = known(run);
    if (known.isPresent()) {
      requireSame(known.get(), sources, tree);
      if (isWhole(known.get())) {
        return known.get();
      }
    }
    Path staged = place.staged(run.durable(), run.name());
    journal.staging(new ArchiveJournal.Staging(run.run(), staged, place.address()));
    writing.set(staged);
    ArchiveFile made;
    try {
      made = checked(run, sources, tree, staged);
    } catch (IOException | RuntimeException failed) {
      // On a full disk, the half bundle would take the room that the next call needs.
      Files.deleteIfExists(staged);
      throw failed;
    }
    if (known.isEmpty()) {
      place.putDocument(run.name(), made.text(), staged);
    } else if (!known.get().bundle().equals(made.bundle())) {
      Files.deleteIfExists(staged);
      throw other(known.get(), "its bundle has another SHA-256 than one of the files of today");
    }
    workspace.files().passed(ArchiveStep.CLAIMED);
    Phase phase = Phase.of("storing " + run.run()).withBytes(made.bundle().bytes());
    try (Running storing = progress.begin(phase)) {
      place.putBundle(made, staged, storing);
    }
    writing.set(null);
    workspace.files().passed(ArchiveStep.PLACED);
    return known.orElse(made);
  }

  /** Writes the bundle under its hidden name, and compares it with the run's files. */
  private ArchiveFile checked(WholeRun run, Map<String, Path> sources, SourceTree tree, Path staged)
      throws IOException {
    SourceTree.Written written;
    try (Running packing = progress.begin(tree.phase("packing " + run.run()))) {
      written =
          tree.write(staged, packing, () -> workspace.files().passed(ArchiveStep.HALF_WRITTEN));
    }
    workspace.files().passed(ArchiveStep.WRITTEN);
    ArchiveFile made =
        new ArchiveFile(
            run.run(),
            run.name(),
            workspace.root(),
            place.address(),
            place.storageClass(),
            Instant.now().truncatedTo(ChronoUnit.SECONDS),
            new ArchiveFile.Bundle(
                ArchiveFile.bundle(run.name()), written.bytes(), written.sha256()),
            sources,
            written.files());
    new BundleReader(workspace, made)
        .read(SourceTree.open(staged), BundleReader.NOWHERE, "checking", progress);
    try (Running comparing = progress.begin(tree.phase("comparing " + run.run()))) {
      tree.requireSame(made.files(), comparing);
    }
    workspace.files().passed(ArchiveStep.CHECKED);
    return made;
  }

  /** Returns the document that an earlier call has put; empty if there is none. */
  private Optional<ArchiveFile> known(WholeRun run) throws IOException {
    Optional<String> text = place.document(run.name());
    if (text.isEmpty()) {
      return Optional.empty();
    }
    String file = place.address() + " " + ArchiveFile.document(run.name());
    ArchiveFile known = ArchiveFile.parse(text.get(), file);
    if (!known.run().equals(run.run()) || !known.workspace().equals(workspace.root())) {
      throw ErrorCode.FILE_EXISTS.error(
          known.where() + " is the archive of " + known.run() + " in " + known.workspace(),
          "archive this run elsewhere: --to DIR");
    }
    return Optional.of(known);
  }

  /**
   * Compares all that the run has today with the bundle. A folder that is gone may be in the trash
   * since an earlier call.
   */
  private void requireSame(ArchiveFile known, Map<String, Path> sources, SourceTree tree) {
    try (Running comparing = progress.begin(tree.phase("comparing " + known.run()))) {
      tree.requireSame(
          known.files().stream()
              .filter(file -> sources.containsKey(file.path().split("/", 2)[0]))
              .toList(),
          comparing);
    } catch (NexaException changed) {
      throw other(known, String.valueOf(changed.getMessage()));
    }
  }

  private static NexaException other(ArchiveFile known, String what) {
    return ErrorCode.FILE_EXISTS.error(
        "there is an older archive of other files at " + known.where() + ": " + what,
        "nothing was removed; archive the run elsewhere: --to DIR",
        "or move the older bundle and its " + ArchiveFile.document(known.name()) + " away");
  }

  /** Returns false for a bundle that is missing or damaged: it is written again, the same bytes. */
  private boolean isWhole(ArchiveFile known) throws IOException {
    if (place.difference(known).isPresent()) {
      return false;
    }
    if (!place.knowsDigests()) {
      try {
        new BundleReader(workspace, known)
            .read(place.open(known), BundleReader.NOWHERE, "checking", progress);
      } catch (NexaException damaged) {
        if (damaged.code() != ErrorCode.ARCHIVE_DAMAGED) {
          throw damaged;
        }
        return false;
      }
    }
    return true;
  }
}
