package dev.nexa.slurm.command.workspace.doctor;

import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.advice;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.failed;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.found;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.ok;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.orOk;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.unknown;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DeniedAccess;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.command.workspace.ShareWorkspace;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.LockOwner;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.cron.CronPasses;
import dev.nexa.slurm.run.cron.OtherPasses;
import dev.nexa.slurm.run.start.Prepared;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Checks of this machine and of the workspace's folder. */
final class HostChecks {
  /** Times of files decide which record is newer. */
  private static final Duration MOST_SKEW = Duration.ofSeconds(5);

  private static final Duration SOON = Duration.ofMinutes(5);
  private static final Duration LONGEST_LOCK = Duration.ofMinutes(10);

  private static final int SMALLEST_ARCHIVE = 1 << 20;

  /** The folders of configs/ that hold rules for all; the first is configs/ itself. */
  static final List<String> RULES = List.of("", "clusters", "prices");

  private static final String RECORDS = "submit and reconcile";

  /** Submit and reconcile write in these folders. The first is the workspace. */
  private static final String FOLDERS =
      ",.nexa,runs,runs/open,runs/manifests,runs/notify,estimates,code";

  private HostChecks() {}

  static List<CheckFinding> java(Context context) {
    String version = "Java " + System.getProperty("java.version");
    String affects = "each command starts in twice the time";
    Optional<Path> archive =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(option -> option.matches("-XX:(SharedArchiveFile|AOTCache)=.*"))
            .map(option -> Path.of(option.substring(option.indexOf('=') + 1)))
            .findFirst();
    if (archive.isPresent()) {
      // The JVM says nothing of an archive that it cannot use.
      boolean usable = archive.get().toFile().length() > SMALLEST_ARCHIVE;
      String unusable = archive.get() + " is no archive of classes: the JVM does not use it";
      Advice remove = Advice.command("the next command makes a new one", "rm", archive.get());
      String with = ", with an archive of the classes";
      return List.of(usable ? ok(version + with) : advice(unusable, affects, remove));
    }
    Map<String, String> environment = context.environment();
    String home = environment.getOrDefault("HOME", "/") + "/.cache";
    String cache = environment.getOrDefault("XDG_CACHE_HOME", home);
    Path folder = DurableFiles.nearest(Path.of(cache, "nexa-slurm"));
    boolean can = Files.isWritable(folder);
    String why =
        ", without an archive of the classes" + (can ? "" : "; you cannot write to " + folder);
    Advice makes = Access.type("nexa-slurm --version", "makes the archive in the background");
    Advice open = Access.toUse(context, folder, "u+w");
    return List.of(advice(version + why, affects, can ? makes : open));
  }

  static List<CheckFinding> workspace(Context context) {
    if (context.missing().isPresent()) {
      List<Advice> advice = new ArrayList<>(context.missing().get().advice());
      advice.removeIf(one -> !Files.isWritable(context.root()) && one.command().contains("init"));
      String affects = "submit on Slurm, status and all records";
      return List.of(failed(context.missing().get().reason(), affects).with(advice));
    }
    Workspace workspace = context.workspace();
    Path root = workspace.root();
    Path runs = workspace.runs();
    boolean team = ShareWorkspace.isTeams(workspace);
    List<CheckFinding> findings = new ArrayList<>();
    if (!team && Access.isMine(root) && Access.isFrozen(root) && Access.isFrozen(runs)) {
      String says = "you cannot write to " + root + " and to folders in it";
      Advice thaw = Access.thaw(root);
      return List.of(failed(says, RECORDS, thaw));
    }
    for (String name : FOLDERS.split(",", -1)) {
      Path folder = root.resolve(name);
      if (isNot(folder, Files.isDirectory(folder))) {
        findings.add(notA("folder", folder));
      } else if (Files.exists(folder) && !Files.isWritable(folder)) {
        CheckFinding closed = Access.notWritable(context, folder, RECORDS);
        // The modes of a team's workspace are looked at by `team`.
        if (!team || closed.says().endsWith("read-only")) {
          findings.add(closed);
        }
      } else if (Set.of(".nexa", "runs").contains(name) && Files.exists(folder)) {
        TierChecks.cannotMake(folder, RECORDS).ifPresent(findings::add);
      }
    }
    for (String name : RULES) {
      for (Path file : DurableFiles.list(root.resolve("configs").resolve(name), "*.yaml")) {
        if (!Files.isReadable(file)) {
          Advice open = Access.toUse(context, file, "u+r");
          findings.add(failed("you cannot read " + file, "all commands", open));
        }
      }
    }
    boolean open =
        Stream.of(runs, root.resolve(".nexa"))
            .allMatch(
                it -> Files.notExists(it) || (Files.isReadable(it) && Files.isExecutable(it)));
    if (open && team == workspace.isShared() && (!team || Access.isMember(runs))) {
      findings.addAll(records(context, workspace));
    }
    return orOk(findings, root.toString());
  }

  private static boolean isNot(Path path, boolean right) {
    return !right && Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  private static CheckFinding notA(String kind, Path path) {
    if (!Files.exists(path) && !Files.notExists(path)) {
      List<Advice> who = DeniedAccess.advice(new AccessDeniedException(path.toString()), path);
      return failed(path + " is a link into a folder that is closed to you", RECORDS).with(who);
    }
    return DurableFiles.leadsNowhere(path)
        .map(lost -> failed(lost, RECORDS, Access.mount(path)))
        .orElseGet(() -> failed(path + " is no " + kind, RECORDS, Access.moveAway(path)));
  }

  /** Looks for a lock that is held for longer than any command works under it. */
  private static void locks(Workspace workspace, List<CheckFinding> findings) {
    for (Path lock :
        DurableFiles.list(workspace.root().resolve(".nexa"), "{budgets,accounting}.lock")) {
      if (isNot(lock, Files.isRegularFile(lock))) {
        findings.add(notA("file", lock));
        continue;
      }
      long written = lock.toFile().lastModified(); // 0 if it was released just now
      boolean old = Instant.ofEpochMilli(written).isBefore(Instant.now().minus(LONGEST_LOCK));
      String holder = old && Files.isReadable(lock) ? DurableFiles.read(lock) : "";
      if (old && !LockOwner.dead(holder)) {
        String says = lock + " is held by " + LockOwner.words(holder);
        Advice remove = Access.type("rm", "if that process does not run any more", lock);
        findings.add(failed(says, RECORDS + " wait for it", remove));
      }
    }
  }

  /** Looks at the files in runs/ that each submit reads or writes. */
  private static List<CheckFinding> records(Context context, Workspace workspace) {
    List<CheckFinding> findings = new ArrayList<>();
    locks(workspace, findings);
    Path latest = workspace.own(workspace.runs(), "latest", "");
    boolean isThere = Files.exists(latest, LinkOption.NOFOLLOW_LINKS);
    if (isThere && !Files.isSymbolicLink(latest)) {
      String says = latest + " is no link, so submit cannot point it at the new run";
      findings.add(failed(says, RECORDS, Access.moveAway(latest)));
    } else if (isThere && workspace.isShared() && !Access.isMine(latest)) {
      findings.add(Access.named(latest, RECORDS));
    }
    for (Path ledger : DurableFiles.list(workspace.runs(), "ledger-????-??{.*,}.jsonl")) {
      String month = "ledger-" + ledger.getFileName().toString().substring(7, 14);
      boolean own = ledger.equals(workspace.own(workspace.runs(), month, ".jsonl"));
      if (isNot(ledger, Files.isRegularFile(ledger))) {
        findings.add(notA("file", ledger));
      } else if (own && workspace.isShared() && !Access.isMine(ledger)) {
        findings.add(Access.named(ledger, RECORDS));
      } else if (!Files.isReadable(ledger)) {
        boolean mine = own || !workspace.isShared();
        Advice group = Access.type("chmod g+r", "", ledger);
        Advice open = mine ? Access.toUse(context, ledger, "u+r") : group;
        findings.add(failed("you cannot read " + ledger, RECORDS, open));
      } else if (own && !Files.isWritable(ledger)) {
        findings.add(Access.notWritable(context, ledger, RECORDS));
      }
    }
    return findings;
  }

  /** Compares the file system's time with this machine's; the file that it makes is removed. */
  static List<CheckFinding> clock(Context context) {
    Path folder = context.workspace().runs();
    if (context.missing().isPresent() || !Files.isWritable(folder)) {
      return List.of(ok("the workspace has no file yet to compare with"));
    }
    try {
      Path file = Files.createTempFile(folder, ".doctor", "");
      Instant now = Instant.now();
      Duration skew = Duration.between(now, Files.getLastModifiedTime(file).toInstant());
      Files.delete(file);
      String says = "the file system is " + skew.toSeconds() + " s ahead of this machine";
      String affects = "times in records, locks of other hosts, the end of approvals";
      String who = "root types it, on the machine that is wrong";
      Advice sync = Access.type("timedatectl set-ntp true", who);
      boolean wrong = skew.abs().compareTo(MOST_SKEW) > 0;
      CheckFinding well = ok("this machine and the file system agree");
      return List.of(wrong ? advice(says, affects, sync) : well);
    } catch (IOException failed) {
      return List.of(unknown("cannot write to " + folder + ": " + DurableFiles.reason(failed)));
    }
  }

  static List<CheckFinding> cron(Context context) {
    if (context.missing().isPresent()) {
      return List.of(ok("without a workspace no pass is needed"));
    }
    if (context.workspace().isAnothers()) {
      String owner = Workspace.ownerOf(context.workspace().runs());
      return List.of(ok("the passes here are those of " + owner));
    }
    CronPasses.Shown shown = new CronPasses(context).show();
    List<CheckFinding> findings = new ArrayList<>(passes(context, shown));
    for (String gone : shown.gone()) {
      String says = "your crontab starts passes in " + gone + ", which is gone";
      Advice edit = Access.type("crontab -e", "if it was moved, remove the line that ends in it");
      findings.add(advice(says, "what cron sends you each time", edit));
    }
    return findings;
  }

  private static List<CheckFinding> passes(Context context, CronPasses.Shown shown) {
    String affects = "costs, manifests and notifications of ended jobs";
    Path open = context.workspace().runs().resolve("open");
    boolean unfinished = DurableFiles.list(open, "[!.]*").size() > 0;
    List<Advice> install = OtherPasses.first(context.environment());
    String words = shown.check().words();
    boolean late = shown.check().late();
    Advice pass = Access.type("nexa-slurm reconcile", "makes a pass now, and prints what stops it");
    Advice watch = Access.type("nexa-slurm reconcile --watch 5m", "or make passes without cron");
    Advice line = Access.type("nexa-slurm cron install", "corrects the line");
    Path beat = context.workspace().own(context.root().resolve(".nexa"), "heartbeat", ".json");
    if (shown.heartbeat().isEmpty() && Files.exists(beat)) {
      return List.of(failed(beat + " cannot be read", "whether a missing pass is noticed", pass));
    }
    if (shown.notRead().isPresent()) {
      String says = shown.notRead().get() + "; " + words;
      return List.of(unfinished && late ? failed(says, affects, watch) : unknown(says, watch));
    }
    if (shown.installed().isEmpty()) {
      String says = "no pass is scheduled";
      return List.of(found(unfinished && late, says, affects, install.toArray(Advice[]::new)));
    }
    boolean slurm =
        context.slurm().isPresent() && !Prepared.clusterName(context).equals(ClusterProfile.LOCAL);
    for (CronPasses.Installed one : shown.installed()) {
      if (one.start().isPresent()) {
        Advice start = Access.type(one.start().get(), "");
        return List.of(failed("the timer is written and not enabled", affects, start));
      }
      Optional<String> missing = missingProgram(one.what());
      if (missing.isPresent()) {
        return List.of(
            failed("the schedule starts " + missing.get() + ", which is gone", affects, line));
      }
      Optional<String> path = pathOf(one.what());
      if (slurm && path.filter(it -> !hasSlurm(it)).isPresent()) {
        String says = "the schedule's PATH has no clients of Slurm: " + path.get();
        return List.of(failed(says, affects, line));
      }
    }
    Instant last = shown.heartbeat().map(Heartbeat::lastPass).orElse(shown.now());
    if (last.isAfter(shown.now().plus(SOON))) {
      String says = "the newest pass is dated in the future: " + last;
      return List.of(advice(says, "whether a missing pass is noticed", pass));
    }
    boolean behind = shown.heartbeat().flatMap(Heartbeat::behindSince).isPresent();
    boolean crontab = shown.installed().stream().anyMatch(one -> one.by().equals("crontab"));
    if (crontab && !cronRuns()) {
      Advice start = Access.type("systemctl enable --now cron", "root types it; Red Hat has crond");
      String says = words + ". No cron daemon is seen on this machine";
      return List.of(found(late, says, affects, start, watch));
    }
    return List.of(late || behind ? failed(words, affects, pass, line) : ok(words));
  }

  /** Returns the PATH that a crontab's line sets for its command. */
  private static Optional<String> pathOf(String line) {
    return Stream.of(line.split("\\s+", -1))
        .filter(word -> word.startsWith("PATH="))
        .map(word -> word.substring(5))
        .findFirst();
  }

  private static boolean hasSlurm(String path) {
    return SlurmScheduler.installed(Map.of("PATH", path), "squeue");
  }

  /** Returns the first file among a crontab line's program and its arguments that is gone. */
  private static Optional<String> missingProgram(String line) {
    String command = line.contains(" --workspace ") ? line.split(" --workspace ", 2)[0] : "";
    return Stream.of(command.split("\\s+", -1))
        .filter(word -> word.matches("/[^'\":=]+") && Files.notExists(Path.of(word)))
        .findFirst();
  }

  private static boolean cronRuns() {
    return ProcessHandle.allProcesses()
        .map(process -> process.info().commandLine().orElse(""))
        .anyMatch(line -> line.matches("(\\S*/)?(cron|crond|fcron)( .*)?"));
  }
}
