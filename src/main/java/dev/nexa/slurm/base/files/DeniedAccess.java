package dev.nexa.slurm.base.files;

import dev.nexa.slurm.base.error.Advice;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * Says who can let this user read or write a file: its owner, its group and its mode. Never advises
 * to open to everybody what its owner has closed.
 */
public final class DeniedAccess {
  private DeniedAccess() {}

  /**
   * Returns what the user can do after a failure; empty if the failure has nothing to do with
   * access.
   *
   * @param path the file or folder; need not exist
   */
  public static List<Advice> advice(IOException failed, Path path) {
    Path file = path.toAbsolutePath().normalize();
    try {
      if (failed instanceof NotDirectoryException) {
        return List.of(
            Advice.step("expected a folder, and " + file + " is a file: name another path"));
      }
      return failed instanceof AccessDeniedException ? denied(file) : List.of();
    } catch (IOException | UnsupportedOperationException unknown) {
      return List.of(Advice.command("shows the owners and modes", "namei", "-l", file));
    }
  }

  private static List<Advice> denied(Path file) throws IOException {
    Path at = file.getRoot();
    for (Path name : file) {
      if (Files.isDirectory(at) && !Files.isExecutable(at)) {
        return List.of(
            Advice.step("you may not enter " + at + ", which " + whose(at)),
            isOwn(at)
                ? Advice.command("lets you enter it", "chmod", "u+rwx", at)
                : Advice.step("ask " + owner(at) + " to let you enter it, or name another path"));
      }
      at = at.resolve(name);
      if (Files.isSymbolicLink(at) && !Files.exists(at)) {
        Path target = at.resolveSibling(Files.readSymbolicLink(at)).normalize();
        return target.startsWith(at) ? List.of() : denied(target);
      }
    }
    if (Files.exists(file) && !Files.isReadable(file)) {
      return List.of(Advice.step(file + " " + whose(file)), letRead(file));
    }
    Path there = Files.exists(file) && !Files.isWritable(file) ? file : file.getParent();
    while (there != null && !Files.exists(there)) {
      there = there.getParent();
    }
    if (there != null && isOfTheSystem(there)) {
      return List.of(
          Advice.step("you may not write to " + there + ", which " + whose(there)),
          Advice.step("name a path that you may write, if the command has an option for it"));
    }
    return there == null
        ? List.of()
        : List.of(
            Advice.step("you may not write to " + there + ", which " + whose(there)),
            isOwn(there)
                ? Advice.command("lets you write there", "chmod", "u+w", there)
                : Advice.step(
                    "to let the group of %s write there, %s types: %s"
                        .formatted(there, owner(there), Advice.command("", "chmod", "g+w", there))),
            Advice.step("or name another path, if the command has an option for it"));
  }

  /** Returns what lets this user read a file: the owner's own permission, or the owner. */
  static Advice letRead(Path file) throws IOException {
    return isOwn(file)
        ? Advice.command("lets you read it", "chmod", "u+r", file)
        : Advice.step("ask " + owner(file) + " to let you read it, or name another path");
  }

  private static boolean isOwn(Path path) throws IOException {
    return FileOwner.of(path).isMe();
  }

  /**
   * Whether the folder is the root of the file system, or belongs to root. No advice may then say
   * to open it for a group.
   */
  private static boolean isOfTheSystem(Path folder) throws IOException {
    return folder.getParent() == null || Files.getAttribute(folder, "unix:uid").equals(0);
  }

  private static String whose(Path path) throws IOException {
    PosixFileAttributes of = Files.readAttributes(path, PosixFileAttributes.class);
    return "belongs to %s (group %s, mode %s)"
        .formatted(
            of.owner().getName(),
            of.group().getName(),
            PosixFilePermissions.toString(of.permissions()));
  }

  private static String owner(Path path) throws IOException {
    return Files.getOwner(path).getName();
  }
}
