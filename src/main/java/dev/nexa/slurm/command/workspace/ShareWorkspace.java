package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Implements {@code init --group}: lets the members of a Unix group submit and read runs in a
 * workspace (docs/teams.md).
 *
 * <p>It first checks everything, then changes modes. The folder {@code runs} comes last: until it
 * is shared, the workspace is private. A second call continues an interrupted one.
 */
public final class ShareWorkspace {
  /** The group writes, and each user can remove only what is theirs. */
  private static final int MEMBERS_ADD = 03770;

  /** The group writes, and each user can remove the locks of dead processes. */
  private static final int MEMBERS_CHANGE = 02770;

  /** The owner writes, the group reads; what is made there belongs to the group. */
  private static final int MEMBERS_READ = 02750;

  /** The mode of a run's folder, which {@code FileModes} passes on to the folders in it. */
  private static final int OF_ONE_MEMBER = 03750;

  private static final int OWNER = 0700;
  private static final int OWNER_WRITES = 0200;
  private static final int OTHERS = 077;
  private static final int READ_BY_GROUP = 050;
  private static final int READ_BY_OTHERS = 05;
  private static final int INHERITS = 02000;
  private static final int MEMBERS_SHARE = 03020;
  private static final int WRITTEN_BY_OTHERS = 02;

  /** The parts of a workspace. Everything else in its folder stays unchanged. */
  private static final List<String> PARTS =
      List.of(
          ("configs data docs templates plugins estimates code programs pipelines cleanup storage"
                  + " .nexa .nexa-local runs")
              .split(" "));

  /** Folders and files that other members' commands read. A strict umask may have closed them. */
  private static final Pattern RECORDS =
      Pattern.compile(
          "(configs|docs|templates|plugins)(/(clusters|prices|schemas|data|train))?"
              + "|storage|\\.nexa/.*|\\.nexa-local/jobs/\\d+|estimates/.*|(code|programs|pipelines)/.*"
              + "|runs/(ledger-.*|bills(/.*)?|(open|manifests|snapshots)/.*)"
              + "|runs/[^/]+_[^/]+(/(journal\\.jsonl|(runner|submissions)(/.*)?|logs))?");

  /** Folders that belong to one member. */
  private static final Pattern OF_A_USER =
      Pattern.compile(
          "\\.nexa-local/jobs/.*|runs/[^/]+_[^/]+(/.*)?|pipelines/pipeline_[^/]+(/.*)?");

  /** Folders of the workspace where members make files. */
  private static final Map<String, Integer> FOLDERS = folders();

  private final Path root;
  private final Workspace workspace;
  private final GroupPrincipal group;
  private final UserPrincipal me;
  private final List<Path> changed = new ArrayList<>();

  /** Members have files in it already. */
  private final boolean wasShared;

  private ShareWorkspace(Workspace workspace, GroupPrincipal group, UserPrincipal me) {
    this.workspace = workspace;
    this.root = workspace.root();
    this.group = group;
    this.me = me;
    this.wasShared = workspace.isShared() || !workspace.unsharedMembers().isEmpty();
  }

  private static Map<String, Integer> folders() {
    Map<String, Integer> folders = new LinkedHashMap<>();
    folders.put(".nexa", MEMBERS_CHANGE);
    String others =
        """
        .nexa-local .nexa-local/jobs .nexa-local/open estimates code programs
        pipelines pipelines/open cleanup
        storage/scratch storage/scratch/.nexa-scratch
        storage/durable storage/durable/.nexa-runs storage/durable/datasets storage/durable/evals
        storage/shared storage/shared/.nexa-runs
        data data/raw data/processed data/processed/distillation data/processed/training
        data/processed/evaluation data/processed/raw_summary
        runs/open runs/manifests runs/snapshots runs
        """;
    for (String name : others.strip().split("\\s+", -1)) {
      folders.put(name, MEMBERS_ADD);
    }
    return folders;
  }

  /**
   * Checks that the workspace can be shared. Changes nothing, but makes its folder if necessary.
   *
   * @param name the name of the group
   * @throws NexaException if there is no such group, if something in the workspace belongs to
   *     another user, or if another group shares it
   */
  static ShareWorkspace of(Workspace workspace, String name) {
    Path root = workspace.root();
    try {
      ShareWorkspace share =
          new ShareWorkspace(
              workspace,
              root.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName(name),
              Files.getOwner(Path.of("/proc/self")));
      share.check();
      return share;
    } catch (UserPrincipalNotFoundException unknown) {
      throw Subcommand.invalid(
          "--group: there is no group " + name, "`id` lists the groups that you are in");
    } catch (IOException failed) {
      throw DurableFiles.failure("share", root, failed);
    }
  }

  /** Returns whether a group works in the workspace, even if a folder has lost its mode since. */
  public static boolean isTeams(Workspace workspace) {
    Path root = workspace.root();
    return FOLDERS.keySet().stream()
            .anyMatch(name -> (mode(root.resolve(name)) & MEMBERS_SHARE) == MEMBERS_SHARE)
        || ((mode(root) & WRITTEN_BY_OTHERS) != 0 && (mode(workspace.runs()) & INHERITS) != 0);
  }

  /**
   * Returns the folders of the workspace's owner with another mode than {@link #share} sets, and
   * the mode that it sets. Whether others may read does not count.
   */
  public static Map<Path, Integer> wrongModes(Workspace workspace) {
    Path root = workspace.root();
    Map<Path, Integer> wrong = new LinkedHashMap<>();
    Stream.of("", "configs", "configs/clusters", "configs/prices", "templates")
        .forEach(name -> wrong.put(root.resolve(name), MEMBERS_READ));
    FOLDERS.forEach((name, mode) -> wrong.put(root.resolve(name), mode));
    wrong
        .entrySet()
        .removeIf(
            one ->
                !Files.isDirectory(one.getKey(), LinkOption.NOFOLLOW_LINKS)
                    || !Workspace.ownerOf(one.getKey()).equals(Workspace.ownerOf(root))
                    || (mode(one.getKey()) & ~READ_BY_OTHERS) == one.getValue());
    return wrong;
  }

  /** Returns the mode of a file or folder; 0 if it cannot be read. */
  public static int mode(Path path) {
    try {
      return (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777;
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException none) {
      return 0;
    }
  }

  private void check() throws IOException {
    workspace.files().directories(root);
    if (!attributes(root).owner().equals(me)) {
      throw refused(root);
    }
    tryGroup();
    if (workspace.isShared()) {
      GroupPrincipal now = attributes(workspace.runs()).group();
      if (!now.equals(group)) {
        throw ErrorCode.PATH_UNUSABLE.error(
            root + " is shared with the group " + now.getName() + " already",
            Advice.command("", "nexa-slurm", "init", "--group", now.getName()));
      }
    }
    if (wasShared) {
      return;
    }
    walk(
        (path, attributes) -> {
          if (!attributes.owner().equals(me) && !root.relativize(path).startsWith("data")) {
            throw refused(path);
          }
        });
  }

  /** Checks on a file of its own that this user may give files to the group. */
  private void tryGroup() throws IOException {
    Path tried = Files.createTempFile(root, ".share", ".tmp");
    try {
      set(tried, MEMBERS_READ);
    } catch (IOException failed) {
      throw ErrorCode.PATH_UNUSABLE.error(
          "you can't give files in " + root + " to the group " + group.getName(),
          failed,
          Advice.step(
              "`id` lists the groups that you are in; a new membership counts from the next login on"),
          Advice.step("the file system must keep Unix modes and groups"));
    } finally {
      Files.deleteIfExists(tried);
      changed.clear();
    }
  }

  private static NexaException refused(Path path) {
    String owner = Workspace.ownerOf(path);
    return ErrorCode.PATH_UNUSABLE.error(
        "%s belongs to %s: only the owner of everything in a workspace can share it"
            .formatted(path, owner),
        Advice.step(
            "nothing was changed; root can give it to one user first: chown -R USER "
                + Advice.word(path.toString())));
  }

  /**
   * Shares the workspace.
   *
   * @return the files and folders whose group or mode was changed, in their order
   */
  List<Path> share() {
    try {
      set(root, MEMBERS_READ);
      FOLDERS.keySet().forEach(name -> workspace.files().directories(root.resolve(name)));
      walk(
          (path, attributes) -> {
            if (attributes.owner().equals(me) && !isMembers(path)) {
              set(path, mode(path, attributes));
            }
          });
      for (Map.Entry<String, Integer> folder : FOLDERS.entrySet()) {
        Path path = root.resolve(folder.getKey());
        if (attributes(path).owner().equals(me) && isHere(path)) {
          set(path, folder.getValue());
        }
      }
      return changed;
    } catch (IOException failed) {
      throw ErrorCode.PATH_UNUSABLE.error(
          "cannot share " + root + ": " + failed.getMessage(),
          failed,
          Advice.step("fix that, then type it again: it goes on where it stopped"));
    }
  }

  /** Returns whether no link leads out of the workspace: a mode set there would share more. */
  private boolean isHere(Path path) throws IOException {
    return path.toRealPath().equals(root.toRealPath().resolve(root.relativize(path)));
  }

  private boolean isMembers(Path path) {
    return FOLDERS.containsKey(root.relativize(path).toString());
  }

  /**
   * Returns the mode of a file or folder where only its owner writes. A private file or folder
   * stays private, unless it is a record that the others' commands read.
   */
  private int mode(Path path, PosixFileAttributes attributes) throws IOException {
    int now = (Integer) Files.getAttribute(path, "unix:mode") & 07777;
    String below = root.relativize(path).toString();
    boolean isPrivate = (now & OTHERS) == 0 && (now & OWNER_WRITES) != 0;
    if (isPrivate && !RECORDS.matcher(below).matches()) {
      return now;
    }
    if (attributes.isDirectory()) {
      return OF_A_USER.matcher(below).matches() ? OF_ONE_MEMBER : MEMBERS_READ;
    }
    return (now & OWNER) | ((now >> 3) & READ_BY_GROUP);
  }

  private void set(Path path, int mode) throws IOException {
    PosixFileAttributes before = attributes(path);
    int now = (Integer) Files.getAttribute(path, "unix:mode") & 07777;
    if (!before.group().equals(group)) {
      Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .setGroup(group);
    } else if (now == mode) {
      return;
    }
    Files.setAttribute(path, "unix:mode", mode);
    if (((Integer) Files.getAttribute(path, "unix:mode") & 07777) != mode) {
      throw new IOException(path + " does not keep the mode " + Integer.toOctalString(mode));
    }
    changed.add(path);
  }

  /**
   * Returns the workspace and its parts that were changed, in their order, each with the number of
   * changed files and folders in it.
   */
  Map<Path, Integer> parts(List<Path> shared) {
    Map<Path, Integer> parts = new LinkedHashMap<>();
    for (Path path : shared) {
      Path below = root.relativize(path);
      Path part = path.equals(root) ? root : root.resolve(below.getName(0));
      parts.merge(part, path.equals(part) ? 0 : 1, Integer::sum);
    }
    return parts;
  }

  /** Returns what members have to type to use the workspace. */
  String sentence(boolean unchanged) {
    String name = group.getName();
    return (unchanged
            ? root + " is shared with the group " + name + " already"
            : "now the group " + name + " can submit and read here")
        + "; each member types: export NEXA_WORKSPACE="
        + root;
  }

  /** Returns a folder above the workspace that members cannot enter; empty if there is none. */
  Optional<Path> closed() {
    try {
      for (Path above = root.getParent(); above != null; above = above.getParent()) {
        int mode = (Integer) Files.getAttribute(above, "unix:mode");
        boolean ofGroup = attributes(above).group().equals(group);
        if ((mode & (ofGroup ? 010 : 01)) == 0) {
          return Optional.of(above);
        }
      }
      return Optional.empty();
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }

  /** An action on each file and folder of the workspace. */
  private interface Visit {
    void visit(Path path, PosixFileAttributes attributes) throws IOException;
  }

  /** Visits the parts of the workspace, without links and without data on the storage tiers. */
  private void walk(Visit visit) throws IOException {
    SimpleFileVisitor<Path> visitor =
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes basic)
              throws IOException {
            Path below = root.relativize(folder);
            if (below.startsWith("storage") && below.getNameCount() > 1 && !isMembers(folder)) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            visit.visit(folder, attributes(folder));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes basic)
              throws IOException {
            if (basic.isRegularFile()) {
              visit.visit(file, attributes(file));
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failed) throws IOException {
            // A file may be gone by now, and another member's may be secret.
            if (failed instanceof NoSuchFileException || wasShared) {
              return FileVisitResult.CONTINUE;
            }
            throw failed;
          }
        };
    for (String part : PARTS) {
      Files.walkFileTree(root.resolve(part), visitor);
    }
  }

  private static PosixFileAttributes attributes(Path path) throws IOException {
    return Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }
}
