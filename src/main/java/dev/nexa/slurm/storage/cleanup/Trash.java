package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.storage.cleanup.TrashedPath.Phase;
import dev.nexa.slurm.storage.tiers.FolderOfTier;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Moves paths of a tier into {@code TIER/.nexa-trash/<cleanup id>}, back, and deletes them there.
 * Each act is one rename below open folders, announced in the journal first.
 */
final class Trash {
  static final String FOLDER = ".nexa-trash";

  private final CleanupJournal journal;
  private final DurableFiles files;
  private final Optional<String> elsewhere;
  private final Consumer<CleanupStep> passing;
  private final UserPrincipal me;

  /**
   * Creates the trash of a cleanup.
   *
   * @param elsewhere the host where the cleanup ran, if it is another one: the tier may be a disk
   *     of that host
   */
  Trash(
      CleanupJournal journal,
      DurableFiles files,
      Optional<String> elsewhere,
      Consumer<CleanupStep> passing) {
    this.journal = journal;
    this.elsewhere = elsewhere;
    this.files = files;
    this.passing = passing;
    try {
      me = Files.getOwner(Path.of("/proc/self"));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", Path.of("/proc/self"), failed);
    }
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
        OpenFolder parent = tier.openAll(parent(path.path()));
        OpenFolder trash = make(tier, path.tier())) {
      String name = name(path.path());
      Optional<PosixFileAttributes> now = parent.attributes(name);
      if (now.isEmpty()
          || !OpenFolder.identity(now.get()).equals(candidate.identity())
          || !now.get().lastModifiedTime().toInstant().equals(candidate.modified())) {
        return Optional.of("it changed while the cleanup ran");
      }
      journal.moving(path, candidate.why());
      passing.accept(CleanupStep.ANNOUNCED);
      parent.move(name, trash, name(path.trash()));
      passing.accept(CleanupStep.RENAMED);
      Optional<PosixFileAttributes> moved = trash.attributes(name(path.trash()));
      if (moved.isEmpty() || !OpenFolder.identity(moved.get()).equals(candidate.identity())) {
        // Somebody put another thing in its place between the check and the rename.
        trash.move(name(path.trash()), parent, name);
        journal.now(path, Phase.KEPT, "it changed");
        return Optional.of("it changed while the cleanup ran");
      }
      files.force(path.tier().resolve(parent(path.trash())));
      files.force(path.tier().resolve(parent(path.path())));
      journal.now(path, Phase.MOVED, "");
      passing.accept(CleanupStep.MOVED);
      return Optional.empty();
    } catch (IOException failed) {
      return Optional.of("it could not be moved: " + words(failed));
    }
  }

  /** Opens the cleanup's own folder in the trash, and makes it if necessary. */
  private OpenFolder make(OpenFolder tier, Path root) throws IOException {
    Path all = root.resolve(FOLDER);
    if (tier.attributes(FOLDER).isEmpty()) {
      try {
        // Other users and workspaces have their own folders in it.
        FolderOfTier.make(root, all);
      } catch (FileAlreadyExistsException other) {
        // Another cleanup has just made it.
      }
    }
    try (OpenFolder trash = tier.open(FOLDER)) {
      String id = journal.id().value();
      if (trash.attributes(id).isEmpty()) {
        Files.createDirectory(
            all.resolve(id),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        files.force(all);
        files.force(root);
      }
      return own(trash, id);
    }
  }

  private OpenFolder own(OpenFolder trash, String id) throws IOException {
    PosixFileAttributes attributes =
        trash
            .attributes(id)
            .orElseThrow(() -> new NoSuchFileException(trash.path().resolve(id).toString()));
    if (!attributes.isDirectory() || !attributes.owner().equals(me)) {
      throw new FileSystemException(
          trash.path().resolve(id).toString(), null, "it is not a folder of this user");
    }
    return trash.open(id);
  }

  /** Opens the cleanup's folder in the trash; empty if it is not there. */
  private Optional<OpenFolder> open(OpenFolder tier) throws IOException {
    if (tier.attributes(FOLDER).isEmpty()) {
      return Optional.empty();
    }
    try (OpenFolder trash = tier.open(FOLDER)) {
      String id = journal.id().value();
      return trash.attributes(id).isEmpty() ? Optional.empty() : Optional.of(own(trash, id));
    }
  }

  /**
   * Brings a path back.
   *
   * @return why it cannot be brought back; empty if it is in its place
   */
  Optional<String> restore(TrashedPath path) {
    if (path.phase() == Phase.DELETING || path.phase() == Phase.DELETED) {
      return Optional.of("it was deleted after its grace period");
    }
    if (!CleanupJournal.mayBeInTrash(path)) {
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
          OpenFolder parent = tier.openAll(parent(path.path()))) {
        return restore(path, trash, parent);
      }
    } catch (NoSuchFileException gone) {
      return Optional.of("its folder " + path.full().getParent() + " does not exist any more");
    } catch (IOException failed) {
      return Optional.of("it could not be moved: " + words(failed));
    }
  }

  private Optional<String> restore(TrashedPath path, OpenFolder trash, OpenFolder parent)
      throws IOException {
    String name = name(path.path());
    Optional<PosixFileAttributes> held = trash.attributes(name(path.trash()));
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
      return Optional.of(path.full() + " exists again; its old content stays in " + held(path));
    }
    journal.now(path, Phase.RESTORING, "");
    passing.accept(CleanupStep.RETURN_ANNOUNCED);
    trash.move(name(path.trash()), parent, name);
    passing.accept(CleanupStep.RETURNED);
    files.force(path.tier().resolve(parent(path.path())));
    files.force(path.tier().resolve(parent(path.trash())));
    journal.now(path, Phase.RESTORED, "");
    passing.accept(CleanupStep.RESTORED);
    return Optional.empty();
  }

  private Optional<String> missing() {
    return Optional.of(
        elsewhere.isPresent()
            ? "it is not in the trash of this host; the cleanup ran on " + elsewhere.get()
            : "it is not in the trash any more");
  }

  private static Path held(TrashedPath path) {
    return path.tier().resolve(path.trash());
  }

  private static boolean isInPlace(OpenFolder tier, TrashedPath path) throws IOException {
    try (OpenFolder parent = tier.openAll(parent(path.path()))) {
      return parent
          .attributes(name(path.path()))
          .filter(now -> OpenFolder.identity(now).equals(path.identity()))
          .isPresent();
    } catch (NoSuchFileException none) {
      return false;
    }
  }

  /**
   * Deletes a path in the trash.
   *
   * @return why it could not be deleted; empty if it is gone
   */
  Optional<String> delete(TrashedPath path) {
    if (!CleanupJournal.mayBeInTrash(path)) {
      return Optional.empty();
    }
    if (!Files.isDirectory(path.tier())) {
      return Optional.of("its tier " + path.tier() + " is not on this host");
    }
    try (OpenFolder tier = OpenFolder.root(path.tier())) {
      Optional<OpenFolder> opened = open(tier);
      if (opened.isEmpty()) {
        return settle(path, isInPlace(tier, path));
      }
      try (OpenFolder trash = opened.get()) {
        String name = name(path.trash());
        if (trash.attributes(name).isEmpty()) {
          return settle(path, isInPlace(tier, path));
        }
        journal.now(path, Phase.DELETING, "");
        passing.accept(CleanupStep.DELETION_ANNOUNCED);
        trash.deleteTree(name, () -> passing.accept(CleanupStep.HALF_DELETED));
        passing.accept(CleanupStep.TREE_DELETED);
        journal.now(path, Phase.DELETED, "");
        passing.accept(CleanupStep.DELETED);
        return Optional.empty();
      }
    } catch (IOException failed) {
      return Optional.of("it could not be deleted: " + words(failed));
    }
  }

  /** Writes down what a killed process did not. */
  private Optional<String> settle(TrashedPath path, boolean inPlace) {
    if (!inPlace && elsewhere.isPresent()) {
      return missing();
    }
    boolean moved = path.phase() != Phase.MOVING || !inPlace;
    if (path.phase() == Phase.RESTORING && inPlace) {
      journal.now(path, Phase.RESTORED, "");
    } else if (moved) {
      journal.now(path, Phase.DELETED, "");
    } else {
      journal.now(path, Phase.KEPT, "it was never moved");
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
          trash.deleteFolder(journal.id().value());
        }
      }
      root.deleteFolder(FOLDER);
    } catch (IOException used) {
      // Something else lies in it, or the tier is not on this host.
    }
  }

  private static Path parent(Path path) {
    Path parent = path.getParent();
    return parent == null ? Path.of("") : parent;
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  private static String words(IOException failed) {
    String message = String.valueOf(failed.getMessage());
    return failed instanceof java.nio.file.AccessDeniedException
        ? "you may not write to " + message
        : message;
  }
}
