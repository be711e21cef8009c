package dev.nexa.slurm.job.code;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.job.config.run.Code;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Finds the files of a working tree that a run packs, and refuses what cannot be packed. */
final class CodeTree {
  private static final int MOST_REFUSED = 10;
  private static final int LARGEST_SHOWN = 3;

  /** As many links as Linux follows (path_resolution(7)). */
  private static final int MOST_LINKS = 40;

  private final Path root;
  private final Excludes excludes;
  private final ConfigPositions written;
  private final Map<Path, Boolean> folders = new HashMap<>();
  private final List<Refusal> refusals = new ArrayList<>();
  private final List<CodeEntry> entries = new ArrayList<>();

  /** A path that cannot be packed. */
  private record Refusal(ErrorCode code, String path, String why) {}

  private CodeTree(Path root, Excludes excludes, ConfigPositions written) {
    this.root = root;
    this.excludes = excludes;
    this.written = written;
  }

  /**
   * Returns the files and links in the order of the archive.
   *
   * @param root the real path of the folder
   * @param git asks about the same folder
   * @throws NexaException if a path cannot be packed or looks like a secret by its name, if the
   *     files are larger than the config allows, or if there are none
   */
  static List<CodeEntry> entries(
      Path root, Git git, Code code, Excludes excludes, ConfigPositions written) {
    CodeTree tree = new CodeTree(root, excludes, written);
    TreeSet<String> paths = new TreeSet<>(NamesOfFiles.ORDER);
    git.paths(paths::add);
    paths.forEach(tree::add);
    refuse(tree.refusals, written);
    tree.requireSize(code.maxBytes());
    if (tree.entries.isEmpty()) {
      String message =
          "no file is left to pack below " + root + ": git lists none, or exclude matches all";
      throw ErrorCode.CODE_NOT_IN_GIT.error(
          written.problem("code", message).toString(),
          Advice.command("shows what git sees there", "git", "-C", root, "status"));
    }
    return List.copyOf(tree.entries);
  }

  private void add(String name) {
    Path path;
    try {
      path = Path.of(name);
    } catch (InvalidPathException locale) {
      throw ErrorCode.CODE_UNSUITABLE.error(
          written.problem("code", "this shell's locale cannot name the file " + name).toString(),
          locale,
          Advice.step("type `export LC_ALL=C.UTF-8`, then type the command again"));
    }
    Path file = root.resolve(path);
    try {
      if (!isInRealFolder(path)) {
        return; // The index lists it, but it is no longer there.
      }
      PosixFileAttributes attributes =
          Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (attributes.isDirectory()) {
        addFolder(name, path, file);
      } else if (!excludes.matchFile(path)) {
        add(name, path, file, attributes);
      }
    } catch (NoSuchFileException deleted) {
      // git still tracks it; the working tree does not have it.
    } catch (IOException failed) {
      throw unreadable(file, failed);
    }
  }

  /** Refuses a folder that git lists as one entry, unless files replaced a tracked file. */
  private void addFolder(String name, Path path, Path folder) throws IOException {
    if (excludes.matchFolder(path)) {
      return;
    }
    boolean empty;
    try (Stream<Path> inside = Files.list(folder)) {
      empty = inside.findAny().isEmpty();
    }
    if (empty || Files.exists(folder.resolve(".git"), LinkOption.NOFOLLOW_LINKS)) {
      String bare = name.endsWith("/") ? name.substring(0, name.length() - 1) : name;
      refuse(
          ErrorCode.CODE_UNSUITABLE,
          bare + "/**",
          bare + " is a git repository of its own (a submodule), which is not packed");
    }
  }

  private void add(String name, Path path, Path file, PosixFileAttributes attributes)
      throws IOException {
    if (attributes.isSymbolicLink()) {
      String target = Files.readSymbolicLink(file).toString();
      if (isInside(path)) {
        entries.add(new CodeEntry(name, 0, false, target));
      } else {
        String why = " is a link to " + target + ", which is absolute or leads out of " + root;
        refuse(ErrorCode.FILE_OUTSIDE_FOLDER, name, name + why);
      }
    } else if (attributes.isRegularFile()) {
      SecretFiles.byName(name)
          .ifPresent(
              kind -> refuse(ErrorCode.CODE_HOLDS_SECRET, name, name + " looks like " + kind));
      boolean executable = attributes.permissions().contains(PosixFilePermission.OWNER_EXECUTE);
      entries.add(new CodeEntry(name, attributes.size(), executable, ""));
    } else {
      refuse(ErrorCode.FILE_NOT_REGULAR, name, name + " is a pipe, a socket or a device");
    }
  }

  private void refuse(ErrorCode code, String path, String why) {
    refusals.add(new Refusal(code, path, why));
  }

  /** Returns whether every folder above the path exists and is no link. */
  private boolean isInRealFolder(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent == null) {
      return true;
    }
    Boolean known = folders.get(parent);
    if (known == null) {
      known = isRealFolder(parent);
      folders.put(parent, known);
    }
    return known;
  }

  private boolean isRealFolder(Path folder) throws IOException {
    Path expected = root.resolve(folder);
    try {
      return expected.toRealPath().equals(expected) && Files.isDirectory(expected);
    } catch (IOException failed) {
      if (Files.exists(expected)) {
        throw failed;
      }
      return false;
    }
  }

  /**
   * Returns whether a link stays inside the tree, also through other links. A missing target
   * counts, because a job may make it.
   */
  private boolean isInside(Path link) throws IOException {
    Deque<Path> here = new ArrayDeque<>();
    Deque<Path> todo = new ArrayDeque<>();
    link.forEach(todo::addLast);
    int links = 0;
    while (!todo.isEmpty()) {
      Path part = todo.removeFirst();
      if (part.toString().equals("..")) {
        if (here.isEmpty()) {
          return false;
        }
        here.removeLast();
      } else if (!part.toString().isEmpty() && !part.toString().equals(".")) {
        here.addLast(part);
        Path at = root;
        for (Path name : here) {
          at = at.resolve(name);
        }
        if (Files.isSymbolicLink(at) && links++ < MOST_LINKS) {
          Path target = Files.readSymbolicLink(at);
          if (target.isAbsolute()) {
            return false;
          }
          here.removeLast();
          for (int i = target.getNameCount() - 1; i >= 0; i--) {
            todo.addFirst(target.getName(i));
          }
        }
      }
    }
    return true;
  }

  private void requireSize(long most) {
    long bytes = entries.stream().mapToLong(CodeEntry::size).sum();
    if (bytes <= most) {
      return;
    }
    List<CodeEntry> largest = new ArrayList<>(entries);
    largest.sort(Comparator.comparingLong(CodeEntry::size).reversed());
    StringBuilder message =
        new StringBuilder(
            "the files have %s, more than max_size %s; the largest are"
                .formatted(Memory.rounded(bytes), Memory.words(most)));
    for (CodeEntry entry : largest.subList(0, Math.min(LARGEST_SHOWN, largest.size()))) {
      message.append("\n  ").append(Memory.rounded(entry.size())).append("  ").append(entry.path());
    }
    throw ErrorCode.CODE_TOO_LARGE.error(
        written.problem("code.max_size", message.toString()).toString(),
        "leave data out: exclude: [" + glob(largest.get(0).path()) + "]",
        "or let git ignore it, or raise code.max_size");
  }

  /**
   * Throws if a file holds a secret.
   *
   * @param kinds the kind of secret by the file's path
   */
  static void refuseSecrets(Map<String, String> kinds, ConfigPositions written) {
    List<Refusal> refusals = new ArrayList<>();
    kinds.forEach(
        (path, kind) ->
            refusals.add(new Refusal(ErrorCode.CODE_HOLDS_SECRET, path, path + " holds " + kind)));
    refuse(refusals, written);
  }

  private static void refuse(List<Refusal> refusals, ConfigPositions written) {
    if (refusals.isEmpty()) {
      return;
    }
    List<String> messages = new ArrayList<>();
    List<String> globs = new ArrayList<>();
    for (Refusal refusal : refusals.subList(0, Math.min(MOST_REFUSED, refusals.size()))) {
      messages.add(written.problem("code", refusal.why()).toString());
      globs.add(glob(refusal.path()));
    }
    if (refusals.size() > MOST_REFUSED) {
      messages.add("and " + (refusals.size() - MOST_REFUSED) + " more");
    }
    throw new NexaException(
        refusals.get(0).code(),
        String.join("\n", messages),
        Advice.step("leave them out: exclude: [" + String.join(", ", globs) + "]"));
  }

  /** Returns the glob that matches one path from the top on, as YAML. */
  private static String glob(String path) {
    boolean folder = path.endsWith("/**");
    String name = folder ? path.substring(0, path.length() - 3) : path;
    String glob = "/" + name.replaceAll("[\\\\*?\\[\\]{}]", "\\\\$0") + (folder ? "/**" : "");
    return "\"" + glob.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
  }

  static NexaException unreadable(Path file, IOException failed) {
    return ErrorCode.FILE_UNREADABLE.error(
        "cannot read " + file + ": " + DurableFiles.reason(failed),
        failed,
        Advice.step("leave it out with code.exclude, or make it readable"));
  }
}
