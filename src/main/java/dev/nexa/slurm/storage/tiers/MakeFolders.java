package dev.nexa.slurm.storage.tiers;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the folders of the tiers that do not exist yet. Never changes what exists.
 *
 * <p>A new folder gets the mode of the tier, so that whoever can write to the tier can write there
 * (docs/teams.md). A folder that this class makes for the tier itself gets the mode 0755, or the
 * mode of a shared workspace.
 *
 * @param dryRun whether to say only which folders it would make
 */
public record MakeFolders(boolean dryRun) {
  /** The result for a folder: made, to be made, there already, or failed. */
  public enum Outcome {
    MADE,
    WOULD_MAKE,
    EXISTS,
    FAILED
  }

  /**
   * One folder.
   *
   * @param note why it could not be made, or what stands there; empty if there is nothing to say
   */
  public record Folder(TierRoot root, Path path, Outcome outcome, String note) {}

  /** Makes the folders, and returns all of them in order. A failure does not end the others. */
  public List<Folder> make(List<TierRoot> roots) {
    List<Folder> all = new ArrayList<>();
    for (TierRoot root : roots) {
      Folder tier = tier(root);
      all.add(tier);
      if (tier.outcome() != Outcome.FAILED) {
        root.tier().folders().forEach(name -> all.add(one(root, root.path().resolve(name))));
      }
    }
    return all;
  }

  private Folder tier(TierRoot root) {
    if (root.exists()) {
      return new Folder(root, root.path(), Outcome.EXISTS, "");
    }
    if (Files.exists(root.path(), LinkOption.NOFOLLOW_LINKS)) {
      String what = DurableFiles.leadsNowhere(root.path()).orElse("it is no folder");
      return new Folder(root, root.path(), Outcome.FAILED, what + " (" + root.key() + ")");
    }
    if (dryRun) {
      return new Folder(root, root.path(), Outcome.WOULD_MAKE, "");
    }
    try {
      directories(root.path());
      return new Folder(root, root.path(), Outcome.MADE, "");
    } catch (IOException failed) {
      return new Folder(root, root.path(), Outcome.FAILED, why(failed) + " (" + root.key() + ")");
    }
  }

  private static void directories(Path folder) throws IOException {
    Path parent = folder.getParent();
    if (parent != null && !Files.isDirectory(parent)) {
      directories(parent);
    }
    try {
      FileModes.createDirectory(folder);
    } catch (FileAlreadyExistsException there) {
      if (!Files.isDirectory(folder)) {
        throw there;
      }
    }
  }

  private Folder one(TierRoot root, Path folder) {
    if (Files.isSymbolicLink(folder)) {
      return Files.isDirectory(folder)
          ? new Folder(root, folder, Outcome.EXISTS, "it is a link")
          : new Folder(root, folder, Outcome.FAILED, "it is a link to nothing that is a folder");
    }
    if (Files.isDirectory(folder)) {
      return new Folder(root, folder, Outcome.EXISTS, "");
    }
    if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      return new Folder(root, folder, Outcome.FAILED, "it is no folder");
    }
    if (dryRun) {
      return new Folder(root, folder, Outcome.WOULD_MAKE, "");
    }
    try {
      inTier(root.path(), folder);
      return new Folder(root, folder, Outcome.MADE, "");
    } catch (FileAlreadyExistsException other) {
      return new Folder(root, folder, Outcome.EXISTS, "");
    } catch (IOException failed) {
      return new Folder(root, folder, Outcome.FAILED, why(failed));
    }
  }

  /**
   * Makes a folder with the mode of the tier.
   *
   * <p>The mode is set without following a link, because somebody else could put one in the new
   * folder's place.
   *
   * @throws FileAlreadyExistsException if something has the name
   */
  public static void inTier(Path tier, Path folder) throws IOException {
    Files.createDirectory(folder);
    int mode = (Integer) Files.getAttribute(tier, "unix:mode") & 07777;
    Files.setAttribute(folder, "unix:mode", mode, LinkOption.NOFOLLOW_LINKS);
  }

  private static String why(IOException failed) {
    return failed instanceof java.nio.file.AccessDeniedException
        ? "you may not write there"
        : String.valueOf(failed.getMessage());
  }
}
