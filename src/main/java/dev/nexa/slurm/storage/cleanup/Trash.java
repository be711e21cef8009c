package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.storage.cleanup.TrashedPath.Phase;
import dev.nexa.slurm.storage.tiers.MakeFolders;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Moves paths of a tier into {@code TIER/.nexa-trash/<cleanup id>}, back, and deletes them there.
 * Each act is one rename below open folders, announced in the journal first.
 */
final class Trash {
  static final String FOLDER = ".nexa-trash";

  /** Clocks may differ by so much. */
  private static final Duration CLOCKS = Duration.ofMinutes(5);

  private final CleanupJournal journal;
  private final DurableFiles files;
  private final Optional<String> elsewhere;
  private final UserPrincipal me;
  private final Map<Path, Optional<String>> early = new HashMap<>();

  /**
   * Creates the trash of a cleanup.
   *
   * @param elsewhere the host where the cleanup ran, if it is another one: the tier may be a disk
   *     of that host
   */
  Trash(CleanupJournal journal, DurableFiles files, Optional<String> elsewhere) {
    this.journal = journal;
    this.elsewhere = elsewhere;
    this.files = files;
    this.me = OpenFolder.me();
  }

  /** Returns where a candidate goes, below its tier. */
  Path place(int number, Candidate candidate) {
    return Path.of(FOLDER, journal.id().value(), number + "." + candidate.path().getFileName());
  }

  /**
   * Moves a candidate into the trash.
   *
   * @return why it was not moved; empty if it was
   */
  Optional<String> move(int number, Candidate candidate) {
    TrashedPath path =
        new TrashedPath(
            number,
            candidate.root().path(),
            candidate.path(),
            place(number, candidate),
            candidate.run().map(Object::toString).orElse(""),
            candidate.bytes(),
            candidate.files(),
            candidate.identity(),
            Phase.MOVING);
    try (OpenFolder tier = OpenFolder.root(path.tier());
        OpenFolder parent = tier.openAll(path.path().resolveSibling(""));
        OpenFolder trash = make(tier, path.tier())) {
      Path name = path.path().getFileName();
      Optional<PosixFileAttributes> now = parent.attributes(name);
      if (now.isEmpty()
          || !OpenFolder.identity(now.get()).equals(candidate.identity())
          || !now.get().lastModifiedTime().toInstant().equals(candidate.modified())) {
        return Optional.of("it changed while the cleanup ran");
      }
      journal.moving(path, candidate.why());
      files.passed(CleanupStep.ANNOUNCED);
      try {
        parent.move(name, trash, path.trash().getFileName());
      } catch (IOException refused) {
        journal.now(path, Phase.KEPT, "it could not be moved");
        return Optional.of(refusal(path, now.get(), refused));
      }
      files.passed(CleanupStep.RENAMED);
      Optional<PosixFileAttributes> moved = trash.attributes(path.trash().getFileName());
      if (moved.isEmpty() || !OpenFolder.identity(moved.get()).equals(candidate.identity())) {
        // Somebody put another thing in its place between the check and the rename.
        trash.move(path.trash().getFileName(), parent, name);
        journal.now(path, Phase.KEPT, "it changed");
        return Optional.of("it changed while the cleanup ran");
      }
      files.force(path.held().resolveSibling(""));
      files.force(path.full().resolveSibling(""));
      journal.now(path, Phase.MOVED, "");
      files.passed(CleanupStep.MOVED);
      return Optional.empty();
    } catch (IOException failed) {
      return Optional.of("it could not be moved: " + DurableFiles.reason(failed));
    }
  }

  /** Returns why a rename failed. Only the owner's right to write lets a folder be moved. */
  private static String refusal(TrashedPath path, PosixFileAttributes moved, IOException failed) {
    if (!(failed instanceof AccessDeniedException)) {
      return "it could not be moved: " + DurableFiles.reason(failed);
    }
    return moved.isDirectory() && !moved.permissions().contains(PosixFilePermission.OWNER_WRITE)
        ? "it is read-only; to let it be moved: chmod u+w " + path.full()
        : "you may not write to " + path.full().getParent();
  }

  /** Opens the cleanup's own folder in the trash, and makes it if necessary. */
  private OpenFolder make(OpenFolder tier, Path root) throws IOException {
    Path all = root.resolve(FOLDER);
    if (tier.attributes(FOLDER).isEmpty()) {
      try {
        // Other users and workspaces have their own folders in it.
        MakeFolders.inTier(root, all);
      } catch (FileAlreadyExistsException other) {
        // Another cleanup has just made it.
      }
    }
    Path own = all.resolve(journal.id().value());
    Optional<OpenFolder> opened = open(tier);
    if (opened.isEmpty()) {
      Files.createDirectory(
          own, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      files.force(all);
      files.force(root);
      opened = open(tier);
    }
    return opened.orElseThrow(() -> new NoSuchFileException(own.toString()));
  }

  /** Opens the cleanup's folder in the trash; empty if it is not there. */
  private Optional<OpenFolder> open(OpenFolder tier) throws IOException {
    if (tier.attributes(FOLDER).isEmpty()) {
      return Optional.empty();
    }
    try (OpenFolder trash = tier.open(FOLDER)) {
      String id = journal.id().value();
      Optional<PosixFileAttributes> own = trash.attributes(id);
      if (own.isEmpty()) {
        return Optional.empty();
      }
      if (!own.get().isDirectory() || !own.get().owner().equals(me)) {
        throw new FileSystemException(
            trash.path().resolve(id).toString(), null, "it is not a folder of this user");
      }
      return Optional.of(trash.open(id));
    }
  }

  /**
   * Brings a path back.
   *
   * @return why it cannot be brought back; empty if it is in its place
   */
  Optional<String> restore(TrashedPath path) {
    if (path.phase() == Phase.DELETED) {
      return Optional.of("it was deleted after its grace period");
    }
    if (path.phase() == Phase.DELETING) {
      return Optional.of(
          "its deletion began after its grace period; what is left lies in " + path.held());
    }
    if (!path.mayBeInTrash()) {
      return Optional.empty();
    }
    if (!Files.isDirectory(path.tier())) {
      return Optional.of("its tier " + path.tier() + " is not on this host");
    }
    try (OpenFolder tier = OpenFolder.root(path.tier())) {
      Optional<OpenFolder> opened = open(tier);
      if (opened.isEmpty()) {
        return isInPlace(tier, path) ? Optional.empty() : missing();
      }
      try (OpenFolder trash = opened.get();
          OpenFolder parent = tier.openAll(path.path().resolveSibling(""))) {
        return restore(path, trash, parent);
      }
    } catch (NoSuchFileException gone) {
      return Optional.of("its folder " + path.full().getParent() + " does not exist any more");
    } catch (IOException failed) {
      return Optional.of("it could not be moved: " + DurableFiles.reason(failed));
    }
  }

  private Optional<String> restore(TrashedPath path, OpenFolder trash, OpenFolder parent)
      throws IOException {
    Path name = path.path().getFileName();
    Optional<PosixFileAttributes> held = trash.attributes(path.trash().getFileName());
    Optional<PosixFileAttributes> there = parent.attributes(name);
    if (held.isEmpty()) {
      boolean back = there.isPresent() && OpenFolder.identity(there.get()).equals(path.identity());
      if (back && path.phase() == Phase.RESTORING) {
        journal.now(path, Phase.RESTORED, "");
      } else if (back) {
        journal.now(path, Phase.KEPT, "it was never moved");
      }
      return back ? Optional.empty() : missing();
    }
    if (there.isPresent()) {
      return Optional.of(path.full() + " exists again; its old content stays in " + path.held());
    }
    journal.now(path, Phase.RESTORING, "");
    files.passed(CleanupStep.RETURN_ANNOUNCED);
    trash.move(path.trash().getFileName(), parent, name);
    files.passed(CleanupStep.RETURNED);
    files.force(path.full().resolveSibling(""));
    files.force(path.held().resolveSibling(""));
    journal.now(path, Phase.RESTORED, "");
    files.passed(CleanupStep.RESTORED);
    return Optional.empty();
  }

  private Optional<String> missing() {
    return Optional.of(
        elsewhere.isPresent()
            ? "it is not in the trash of this host; the cleanup ran on " + elsewhere.get()
            : "it is not in the trash any more");
  }

  private static boolean isInPlace(OpenFolder tier, TrashedPath path) throws IOException {
    try (OpenFolder parent = tier.openAll(path.path().resolveSibling(""))) {
      return parent
          .attributes(path.path().getFileName())
          .filter(now -> OpenFolder.identity(now).equals(path.identity()))
          .isPresent();
    } catch (NoSuchFileException none) {
      return false;
    }
  }

  /**
   * The result of a deletion.
   *
   * @param deleted whether this call deleted the path
   * @param failed why it could not be deleted; empty if it is not in the trash any more
   */
  record Deletion(boolean deleted, Optional<String> failed) {
    private static Deletion failed(String why) {
      return new Deletion(false, Optional.of(why));
    }
  }

  /**
   * Deletes a path in the trash.
   *
   * @param grace how long it must have been there, by the clock of its tier
   */
  Deletion delete(TrashedPath path, Duration grace, Running deleting) {
    if (!path.mayBeInTrash()) {
      return new Deletion(false, Optional.empty());
    }
    if (!Files.isDirectory(path.tier())) {
      return Deletion.failed("its tier " + path.tier() + " is not on this host");
    }
    try (OpenFolder tier = OpenFolder.root(path.tier())) {
      Optional<OpenFolder> opened = open(tier);
      if (opened.isEmpty()) {
        return new Deletion(false, settle(path, isInPlace(tier, path)));
      }
      try (OpenFolder trash = opened.get()) {
        Path name = path.trash().getFileName();
        if (trash.attributes(name).isEmpty()) {
          return new Deletion(false, settle(path, isInPlace(tier, path)));
        }
        // The first deletion changes the time of the folder.
        Optional<String> early = this.early.get(path.tier());
        if (early == null) {
          early = tooEarly(trash, path.tier(), grace);
          this.early.put(path.tier(), early);
        }
        if (early.isPresent()) {
          return Deletion.failed(early.get());
        }
        journal.now(path, Phase.DELETING, "");
        files.passed(CleanupStep.DELETION_ANNOUNCED);
        trash.deleteTree(
            name,
            () -> {
              deleting.done(1, 0);
              files.passed(CleanupStep.HALF_DELETED);
            });
        files.passed(CleanupStep.TREE_DELETED);
        journal.now(path, Phase.DELETED, "");
        files.passed(CleanupStep.DELETED);
        return new Deletion(true, Optional.empty());
      }
    } catch (DirectoryNotEmptyException left) {
      return Deletion.failed(
          "entries are left that could not be removed; remove them: rm -r " + path.held());
    } catch (AccessDeniedException denied) {
      return Deletion.failed(
          "you may not delete all of it; this shows whose it is: ls -lR " + path.held());
    } catch (IOException failed) {
      return Deletion.failed("it could not be deleted: " + DurableFiles.reason(failed));
    }
  }

  /**
   * Returns why the tier's clock does not agree that the grace period is over; empty if it agrees.
   * This host's clock may be wrong, and a file server has its own. So the time of the trash folder
   * is the time of the last move, and the time of a new file is now.
   */
  private static Optional<String> tooEarly(OpenFolder trash, Path tier, Duration grace)
      throws IOException {
    FileTime moved = Files.getLastModifiedTime(trash.path());
    Path fresh = trash.path().resolve(".clock");
    Files.deleteIfExists(fresh);
    try {
      Files.createFile(fresh);
    } catch (FileSystemException full) {
      // The trash of a full disk must be deletable.
      return Optional.empty();
    }
    Instant now = Files.getLastModifiedTime(fresh).toInstant();
    Files.delete(fresh);
    Files.setLastModifiedTime(trash.path(), moved);
    return Duration.between(moved.toInstant(), now).plus(CLOCKS).compareTo(grace) >= 0
        ? Optional.empty()
        : Optional.of(
            ("the clock of this host says that its grace period is over, and the"
                    + " clock of %s says that it was moved at %s and that it is %s now;"
                    + " `date` shows whether the clock of this host is right")
                .formatted(tier, moved, now));
  }

  /**
   * Writes down what a killed process did not: whether a path that it announced to move is in the
   * trash. Does nothing if the disk does not show it.
   */
  void settleMove(TrashedPath path) {
    boolean open = path.phase() == Phase.MOVING || path.phase() == Phase.RESTORING;
    if (!open || elsewhere.isPresent() || !Files.isDirectory(path.tier())) {
      return;
    }
    try (OpenFolder tier = OpenFolder.root(path.tier())) {
      Optional<OpenFolder> opened = open(tier);
      boolean inTrash = false;
      if (opened.isPresent()) {
        try (OpenFolder trash = opened.get()) {
          inTrash = trash.attributes(path.trash().getFileName()).isPresent();
        }
      }
      if (inTrash) {
        journal.now(path, Phase.MOVED, "");
      } else if (isInPlace(tier, path)) {
        settle(path, true);
      }
    } catch (IOException unreadable) {
      // The path stays announced. A later cleanup looks again.
    }
  }

  /** Writes down what a killed process did not, of a path that is not in the trash. */
  private Optional<String> settle(TrashedPath path, boolean inPlace) {
    if (!inPlace && elsewhere.isPresent()) {
      return missing();
    }
    if (path.phase() == Phase.RESTORING && inPlace) {
      journal.now(path, Phase.RESTORED, "");
    } else if (path.phase() == Phase.MOVING) {
      journal.now(path, Phase.KEPT, "it was never moved");
    } else {
      journal.now(path, Phase.DELETED, "");
    }
    return Optional.empty();
  }

  /** Removes the cleanup's folder from a tier's trash if it is empty, and the trash if that is. */
  void removeEmpty(Path tier) {
    try (OpenFolder root = OpenFolder.root(tier)) {
      if (root.attributes(FOLDER).isEmpty()) {
        return;
      }
      try (OpenFolder trash = root.open(FOLDER)) {
        if (trash.attributes(journal.id().value()).isPresent()) {
          trash.deleteFolder(Path.of(journal.id().value()));
        }
      }
      root.deleteFolder(Path.of(FOLDER));
    } catch (IOException used) {
      // Something else lies in it, or the tier is not on this host.
    }
  }
}
