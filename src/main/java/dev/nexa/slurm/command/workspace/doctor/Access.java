package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.workspace.ShareWorkspace;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Advice on access to files, for this user: what another user has to do is said as that user's. No
 * command takes access from others, or gives more than docs/teams.md does.
 */
final class Access {
  private static final Pattern PLACE = Pattern.compile("(\\S+?):(\\d{1,9}):");

  /** In advice, it stands for the user's editor. */
  private static final String EDITOR = "vi";

  /** Editors that take a line as {@code +N}. */
  private static final String GO_TO_LINE =
      "(.*/)?(vi|vim|nvim|nano|emacs|emacsclient|micro|mg|joe)";

  private static final Set<String> CHANGE_A_FOLDER = Set.of("mv", "rm", "touch", "mkdir");
  private static final int TEAMS = 02010; // its group enters, and gets what is made there
  static final int STICKY = 01000;
  private static final int OWNER_WRITES = 0200;

  /** Groups below 1000 are the system's (login.defs(5), GID_MIN); the last number is nogroup. */
  private static final String NO_TEAMS = "\\d{0,3}|65534";

  private Access() {}

  /** Returns a command from words that hold no spaces, then paths; {@code why} is its comment. */
  static Advice type(String command, String why, Path... paths) {
    List<Object> words = new ArrayList<>(List.of(command.split(" ", -1)));
    words.addAll(List.of(paths));
    return Advice.command(why, words.toArray());
  }

  /** Returns the command that keeps what is in the way under another name. */
  static Advice moveAway(Path path) {
    return Advice.command("keeps it under another name", "mv", path, path + ".old");
  }

  /** Returns a finding for each YAML file of another name, as NAME.yml, beside a missing one. */
  static List<CheckFinding> misnamed(Path missing, String name, String affects) {
    List<CheckFinding> findings = new ArrayList<>();
    if (Files.notExists(missing, LinkOption.NOFOLLOW_LINKS)) {
      String likely = name + ".{yml,yaml}{,[.~]*}";
      for (Path other : DurableFiles.list(missing.resolveSibling(""), likely)) {
        String says = "there is no " + missing + ", and beside it is " + other;
        findings.add(CheckFinding.failed(says, affects, type("mv", "", other, missing)));
      }
    }
    return findings;
  }

  /** Returns the finding that a path that exists cannot be written, and what lets this user. */
  static CheckFinding notWritable(Context context, Path path, String affects) {
    Optional<String> mount = readOnlyMount(path);
    if (mount.isPresent()) {
      String why = "root types it, after `dmesg` has said why";
      Advice remount = Advice.command(why, "mount", "-o", "remount,rw", mount.get());
      return CheckFinding.failed(mount.get() + " is mounted read-only", affects, remount);
    }
    String says = "you cannot write to " + path;
    if (isMine(path) && (ShareWorkspace.mode(path) & OWNER_WRITES) != 0) {
      // chattr(1), i: not even root may change it.
      String why = "root types it, if `lsattr -d` shows an i; no mode forbids it";
      return CheckFinding.failed(says, affects, Advice.command(why, "chattr", "-i", path));
    }
    return CheckFinding.failed(says, affects, toUse(context, path, "u+w"));
  }

  /** Returns what lets this user read or write a path that exists. */
  static Advice toUse(Context context, Path path, String mode) {
    Workspace workspace = context.workspace();
    boolean inside = path.startsWith(workspace.root());
    boolean team = inside && ShareWorkspace.isTeams(workspace);
    if (team && Files.isDirectory(path)) {
      return share(context);
    }
    String owner = Workspace.ownerOf(path);
    String me = UnixUser.me().user();
    if (owner.equals(me)) {
      return Advice.command("", "chmod", mode, path);
    }
    // A run of root's stays root's: this user's passes would take its job for lost.
    boolean own = inside && !team && isMine(workspace.root());
    boolean all =
        own
            && Files.isReadable(workspace.runs().resolve("open"))
            && workspace.openRuns().stream().allMatch(run -> isSubmitter(workspace.run(run), me));
    if (team && isMine(workspace.root()) && path.startsWith(workspace.root().resolve("configs"))) {
      return giveRule(context, path);
    }
    if (owner.equals("root") && !inside && isMine(path.resolveSibling(""))) { // as with sudo
      return type("chown -hR " + me + ":", "root types it", path);
    }
    return own
        ? giveBack(all ? "-hR" : "-h", path)
        : Advice.step("ask " + owner + ", who owns " + path + ", to let you use it");
  }

  /** Returns whether this user's folder has lost its owner's right to write, as by chmod -R a-w. */
  static boolean isFrozen(Path folder) {
    return isMine(folder)
        && Files.isDirectory(folder)
        && !Files.isWritable(folder)
        && (ShareWorkspace.mode(folder) & OWNER_WRITES) == 0;
  }

  /** Returns the command that lets the owner write to folders, ledgers, journals and logs again. */
  static Advice thaw(Path root) {
    return Advice.command(
        "", "find", root, "(", "-type", "d", "-o", "-name", "*.jsonl", "-o", "-name", "*.log", ")",
        "!", "-perm", "-200", "-exec", "chmod", "u+w", "{}", "+");
  }

  /** Returns the command that gives parts of this user's own workspace back to this user. */
  static Advice giveBack(String option, Path... paths) {
    String me = UnixUser.me().user();
    return type("chown " + option + " " + me + ":", "root types it: the workspace is yours", paths);
  }

  /**
   * Returns the command that gives rules for all to the owner and the group of a team's workspace.
   */
  static Advice giveRule(Context context, Path... paths) {
    Workspace workspace = context.workspace();
    String who = Workspace.ownerOf(workspace.root()) + ":" + group(workspace.runs());
    return type("chown -h " + who, "root types it", paths);
  }

  /** Returns the finding that a record that bears this user's name belongs to another user. */
  static CheckFinding named(Path record, String affects) {
    String me = UnixUser.me().user();
    String says = "%s belongs to %s, and its name says that it is %s's";
    return CheckFinding.failed(
        says.formatted(record, Workspace.ownerOf(record), me),
        affects,
        type("chown -h " + me, "root types it", record));
  }

  /** Returns whether a run's journal says that this user submitted it. */
  static boolean isSubmitter(RunFolder run, String user) {
    try {
      return run.journal().read().get(0).data().text("user").equals(user);
    } catch (UncheckedIOException | IllegalArgumentException | IndexOutOfBoundsException none) {
      return false;
    }
  }

  /** Returns what to do about a link whose target is not there. It may be on a disk to mount. */
  static Advice mount(Path link) {
    return Advice.step("mount or restore what " + link + " leads to, or correct the link");
  }

  /** Returns the command that sets the modes of a team's workspace. */
  static Advice share(Context context) {
    String group = group(context.workspace().runs());
    return type("nexa-slurm init --group " + group, "sets the modes of docs/teams.md");
  }

  /**
   * Returns whether the group of a folder can be a team's. A group of the system cannot: who is in
   * it has rights outside the workspace.
   */
  static boolean isTeams(Path folder) {
    String id = attribute(folder, "unix:gid");
    return !id.matches(NO_TEAMS) && !group(folder).equals(id);
  }

  /** Returns how a workspace whose group is no team's comes back to its team. */
  static List<Advice> toTeam(Path root, String group) {
    String find = Advice.command("", "find", root, "-group", group).toString();
    return List.of(
        Advice.step(
            "root types, with the team's group for TEAM: " + find + " -exec chgrp -h TEAM {} +"),
        toShare(root));
  }

  /** Returns what the owner of a team's workspace types, to set its modes. */
  static Advice toShare(Path root) {
    Advice init = Advice.command("", "nexa-slurm", "--workspace", root, "init", "--group", "TEAM");
    String owner = Workspace.ownerOf(root);
    return Advice.step("%s types, with the team's group for TEAM: %s".formatted(owner, init));
  }

  static String group(Path path) {
    return attribute(path, "posix:group");
  }

  private static String attribute(Path path, String name) {
    try {
      return String.valueOf(Files.getAttribute(path, name));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
      return "";
    }
  }

  /** Returns whether this user has a group's rights to a path; true if it is not known. */
  static boolean isMember(Path path) {
    String group = " " + attribute(path, "unix:gid") + " ";
    Path status = Path.of("/proc/self/status");
    return group.isBlank()
        || UnixUser.me().user().equals("root")
        || !Files.isReadable(status)
        || DurableFiles.read(status)
            .lines()
            .filter(line -> line.matches("(Gid|Groups):.*"))
            .anyMatch(line -> (line.replace('\t', ' ') + " ").contains(group));
  }

  /** Returns how a user comes into the group of a team's folder; empty if that is not the cause. */
  static List<Advice> toJoin(Path folder) {
    if ((ShareWorkspace.mode(folder) & TEAMS) != TEAMS || isMember(folder)) {
      return List.of();
    }
    if (!isTeams(folder)) {
      return toTeam(folder.toAbsolutePath().normalize(), group(folder));
    }
    String group = group(folder);
    String me = UnixUser.me().user();
    if (hasLine("group", memberLine(group, me))) {
      return List.of(type("newgrp " + group, "or log in again: you were added after this login"));
    }
    String why = "root types it, if " + Workspace.ownerOf(folder) + " agrees; then log in again";
    return List.of(type("usermod -aG " + group + " " + me, why));
  }

  /** Returns whether a user of this machine's own files is outside a group of these files. */
  static boolean hasLeft(Path folder, String user) {
    String name = Pattern.quote(user) + ":[^:]*:[^:]*:";
    String first = attribute(folder, "unix:gid");
    return hasLine("group", Pattern.quote(group(folder)) + ":.*")
        && hasLine("passwd", name + ".*")
        && !hasLine("passwd", name + first + ":.*")
        && !hasLine("group", memberLine(group(folder), user));
  }

  private static String memberLine(String group, String user) {
    return Pattern.quote(group) + ":[^:]*:[^:]*:(.*,)?" + Pattern.quote(user) + "(,.*)?";
  }

  /** Users and groups of a directory service are in no such file (nsswitch.conf(5)). */
  private static boolean hasLine(String file, String form) {
    Path path = Path.of("/etc", file);
    return Files.isReadable(path)
        && DurableFiles.read(path).lines().anyMatch(line -> line.matches(form));
  }

  /** Returns what to write in a file: an editor's command, or who can write to it. */
  static Advice change(Path file, String what) {
    return change(file, 0, what);
  }

  /**
   * Returns what to write in a line of a file: an editor's command, or who can write to it.
   *
   * @param line counts from 1; 0 for no line
   */
  static Advice change(Path file, int line, String what) {
    Path there = DurableFiles.nearest(file);
    if (!Files.isWritable(there)) {
      return Advice.step("ask " + Workspace.ownerOf(there) + ": in " + file + ", " + what);
    }
    List<Object> words = new ArrayList<>(List.of(EDITOR, "+" + line, file));
    words.removeIf("+0"::equals);
    return Advice.command(what, words.toArray());
  }

  /** Returns what to write where a message points that begins with {@code FILE:LINE:}. */
  static Optional<Advice> changeAt(String message, String what) {
    Matcher place = PLACE.matcher(message);
    return place.lookingAt()
        ? Optional.of(
            change(
                Path.of(place.group(1)),
                Integer.parseInt(place.group(2)),
                what + " line " + place.group(2)))
        : Optional.empty();
  }

  /**
   * Returns a command as it can be typed from any folder: with the workspace, and as another user's
   * if this user may not do it. Advice that is no command stays unchanged.
   */
  static Advice typed(Context context, Advice advice) {
    List<String> words = new ArrayList<>(advice.command());
    boolean init = words.size() == 2 && words.get(1).equals("init");
    if (advice.kind() != Advice.Kind.COMMAND || (context.missing().isPresent() && !init)) {
      return advice;
    }
    String program = words.get(0);
    if (program.equals(EDITOR)) {
      return Advice.command(advice.text(), inEditor(context, words).toArray());
    }
    Path root = context.workspace().root();
    Path last = Path.of(words.get(words.size() - 1));
    boolean ours = program.equals("nexa-slurm");
    boolean owners = program.equals("chmod") || (ours && words.get(1).equals("init"));
    if (ours && !words.get(1).equals("explain")) {
      words.addAll(1, List.of("--workspace", root.toString()));
    }
    Path needs = ours ? root : owners ? last : DurableFiles.nearest(last.resolveSibling(""));
    boolean writes = CHANGE_A_FOLDER.contains(program) && !Files.isWritable(needs);
    Advice command = Advice.command(advice.text(), words.toArray());
    if (program.equals("mv") && (ShareWorkspace.mode(needs) & STICKY) != 0) {
      // Only these two and root may rename it (rename(2), EPERM).
      writes |= !isMine(needs);
      needs = Path.of(words.get(1));
    }
    return (owners || writes) && !isMine(needs) && !UnixUser.me().user().equals("root")
        ? Advice.step("ask " + Workspace.ownerOf(needs) + ", who types: " + command)
        : command;
  }

  /** Returns the command for the editor of the user's variables. */
  private static List<String> inEditor(Context context, List<String> words) {
    Map<String, String> environment = context.environment();
    String editor = environment.getOrDefault("EDITOR", "");
    editor = environment.getOrDefault("VISUAL", editor).strip();
    if (editor.isEmpty()) {
      return words;
    }
    List<String> own = new ArrayList<>(List.of(editor.split("\\s+", -1)));
    boolean goes = own.get(0).matches(GO_TO_LINE);
    words.stream().skip(1).filter(word -> goes || !word.startsWith("+")).forEach(own::add);
    return own;
  }

  static boolean isMine(Path path) {
    return Workspace.ownerOf(path).equals(UnixUser.me().user());
  }

  /** Returns the mount point of a path if the mount is read-only (proc(5), mounts). */
  private static Optional<String> readOnlyMount(Path path) {
    try {
      Path real = path.toRealPath();
      String[] nearest = {"/", "rw"};
      for (String line : DurableFiles.read(Path.of("/proc/self/mounts")).split("\n", -1)) {
        String[] cells = line.split(" ", -1);
        String at = cells.length < 4 ? "" : cells[1].replace("\\040", " ");
        // A later mount covers an earlier one.
        if (!at.isEmpty() && real.startsWith(at) && at.length() >= nearest[0].length()) {
          nearest = new String[] {at, cells[3]};
        }
      }
      return nearest[1].matches("(.*,)?ro(,.*)?") ? Optional.of(nearest[0]) : Optional.empty();
    } catch (IOException | UncheckedIOException unknown) {
      return Optional.empty();
    }
  }
}
