package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileOwner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The workspace of a folder: the folder itself or the nearest one above it that has {@code .nexa/},
 * {@code configs/policy.yaml}, {@code configs/clusters/} or {@code runs/manifests/}.
 *
 * <p>As in git, the search stays on one file system. It ends without a result at a workspace of
 * another user, because that user's policy would apply, and the templates would run with this
 * user's rights. It also ends at a folder that all users can write to, such as /tmp.
 *
 * @param found the workspace; empty if there is none that may be used
 * @param reason why no workspace was found; empty if there is one
 * @param theirs a workspace that was found and is not used, because another user may change it
 * @param here whether files of the start folder may be read, and runs be kept in it
 */
public record WorkspaceSearch(
    Optional<Path> found, String reason, Optional<Path> theirs, Here here) {

  /** Whether the start folder can be trusted. */
  public enum Here {
    /** The folder belongs to this user or to root, and not all users can write to it. */
    OURS,
    /** Other users may have put files into the folder. */
    NOT_OURS,
    /** Other users may have put files into the folder, and it has parts of a workspace. */
    PLANTED
  }

  /** Searches the folder and the folders above it. It makes only a few stat calls. */
  public static WorkspaceSearch from(Path folder) {
    Path start = folder.toAbsolutePath().normalize();
    try {
      return search(start);
    } catch (IOException unreadable) {
      return none(
          "cannot read the owner of " + start + " or of a folder above it: " + unreadable,
          Here.PLANTED);
    } catch (UnsupportedOperationException | IllegalArgumentException noOwners) {
      // The file system has no owners.
      return isWorkspace(start)
          ? found(start, Here.OURS)
          : none("there is no workspace in " + start, Here.OURS);
    }
  }

  private static WorkspaceSearch search(Path start) throws IOException {
    FileOwner first = FileOwner.of(start);
    Here here = isSafe(first) ? Here.OURS : hasParts(start) ? Here.PLANTED : Here.NOT_OURS;
    String nothing = "there is no workspace in " + start + " or above it";
    for (Path folder = start; folder != null; folder = folder.getParent()) {
      FileOwner owner = folder.equals(start) ? first : FileOwner.of(folder);
      if (owner.device() != first.device()) {
        return none(nothing + " on this file system, which ends below " + folder, here);
      }
      if (isWorkspace(folder)) {
        return isSafe(owner)
            ? found(folder, here)
            : new WorkspaceSearch(
                Optional.empty(), whose(folder, owner), Optional.of(folder), here);
      }
      if (owner.writableByAll()) {
        break;
      }
    }
    return none(nothing, here);
  }

  private static WorkspaceSearch found(Path folder, Here here) {
    return new WorkspaceSearch(Optional.of(folder), "", Optional.empty(), here);
  }

  private static WorkspaceSearch none(String reason, Here here) {
    return new WorkspaceSearch(Optional.empty(), reason, Optional.empty(), here);
  }

  /** Returns what the user can type to get a workspace; empty if one was found. */
  public List<Advice> advice() {
    if (found.isPresent()) {
      return List.of();
    }
    if (theirs.isPresent()) {
      String name = Advice.word("NEXA_WORKSPACE=" + theirs.get());
      // Root may work in each workspace.
      boolean open =
          Files.isWritable(theirs.get())
              || new Workspace(theirs.get(), DurableFiles.onDisk()).isShared();
      String ask =
          Workspace.ownerOf(theirs.get())
              + " can share it with a group: `nexa-slurm explain docs/teams.md`";
      Advice use = Advice.step(open ? "to work in it, type: export " + name : ask);
      return here == Here.OURS ? List.of(use, makesOne()) : List.of(use, elsewhere());
    }
    Advice names = Advice.step("or name yours: --workspace DIR, or NEXA_WORKSPACE=DIR");
    return here == Here.OURS ? List.of(makesOne(), names) : List.of(elsewhere(), names);
  }

  private static Advice makesOne() {
    return Advice.command(
        "makes one here: policy, prices and cluster profile", "nexa-slurm", "init");
  }

  private static Advice elsewhere() {
    return Advice.step(
        "to make one of your own, type: mkdir -p ~/science && cd ~/science && nexa-slurm init");
  }

  /**
   * Returns the workspace that the user probably means by a folder that has no part of a workspace:
   * the nearest one above it, else the only one directly in it.
   */
  public static Optional<Path> near(Path folder) {
    Path start = folder.toAbsolutePath().normalize();
    try {
      if (isWorkspace(start) || hasParts(start)) {
        return Optional.empty();
      }
      for (Path above = start.getParent(); above != null; above = above.getParent()) {
        if (FileOwner.of(above).writableByAll()) {
          break;
        }
        if (isWorkspace(above)) {
          return Optional.of(above);
        }
      }
      try (Stream<Path> children = Files.list(start)) {
        List<Path> in = children.filter(WorkspaceSearch::isWorkspace).limit(2).toList();
        return in.size() == 1 ? Optional.of(in.get(0)) : Optional.empty();
      }
    } catch (IOException | UncheckedIOException | UnsupportedOperationException unreadable) {
      return Optional.empty();
    }
  }

  private static boolean isWorkspace(Path folder) {
    return Files.isDirectory(folder.resolve(".nexa"))
        || Files.exists(folder.resolve("configs/policy.yaml"))
        || Files.isDirectory(folder.resolve("configs/clusters"))
        // Earlier versions made no .nexa with the first run.
        || Files.isDirectory(folder.resolve("runs/manifests"));
  }

  /** Returns whether the folder has a file or folder that commands would read as a workspace's. */
  private static boolean hasParts(Path folder) {
    return Stream.of(".nexa", "configs", "templates", "plugins", "runs")
        .anyMatch(part -> Files.exists(folder.resolve(part)));
  }

  /** Returns whether only this user, root and their groups can have put files there. */
  private static boolean isSafe(FileOwner owner) throws IOException {
    return !owner.writableByAll() && (owner.uid() == 0 || owner.isMe());
  }

  private static String whose(Path folder, FileOwner owner) {
    String name = Workspace.ownerOf(folder);
    return owner.writableByAll()
        ? ("%s can be written by everybody, so it is not used as a workspace; %s"
                + " types: chmod o-w %s")
            .formatted(folder, name, Advice.word(folder.toString()))
        : folder + " is " + name + "'s workspace, not yours";
  }
}
