package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.cron.CronPasses;
import dev.nexa.slurm.run.cron.OtherPasses;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Checks of this machine and of the workspace's folder. */
final class HostChecks {
  /** Times of files decide which record is newer. */
  private static final Duration MOST_SKEW = Duration.ofSeconds(5);

  private HostChecks() {}

  static List<CheckFinding> java(Context context) {
    String version = "Java " + System.getProperty("java.version");
    boolean archive =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .anyMatch(
                option ->
                    option.startsWith("-XX:SharedArchiveFile=")
                        || option.startsWith("-XX:AOTCache="));
    return List.of(
        archive
            ? CheckFinding.ok("java", version + ", with an archive of the classes")
            : CheckFinding.advice(
                "java",
                version + ", without an archive of the classes",
                "each command starts in twice the time",
                Advice.command(
                    "the start script makes the archive in the background",
                    "nexa-slurm",
                    "--version")));
  }

  static List<CheckFinding> workspace(Context context) {
    if (context.missing().isPresent()) {
      return List.of(
          new CheckFinding(
              "workspace",
              CheckFinding.Result.FAILED,
              context.missing().get().reason(),
              "submit on Slurm, status and all records",
              context.missing().get().advice()));
    }
    Path root = context.root().toAbsolutePath().normalize();
    Path runs = context.workspace().runs();
    List<CheckFinding> findings = new ArrayList<>();
    for (Path folder :
        List.of(
            root, root.resolve(".nexa"), runs, runs.resolve("open"), runs.resolve("manifests"))) {
      Path there = DurableFiles.nearest(folder);
      if (!Files.isDirectory(there)) {
        findings.add(
            workspaceFailed(
                there + " is no folder", Advice.step("move it away, and look what it is")));
      } else if (there.equals(folder) && !Files.isWritable(folder)) {
        findings.add(workspaceFailed("you cannot write to " + folder, Access.toWrite(folder)));
      }
    }
    return findings.isEmpty() ? List.of(CheckFinding.ok("workspace", root.toString())) : findings;
  }

  private static CheckFinding workspaceFailed(String says, Advice remedy) {
    return CheckFinding.failed("workspace", says, "submit and reconcile", remedy);
  }

  /** Compares the file system's time with this machine's; the file that it makes is removed. */
  static List<CheckFinding> clock(Context context) {
    Path folder = context.workspace().runs();
    if (context.missing().isPresent() || !Files.isWritable(folder)) {
      return List.of(CheckFinding.ok("clock", "the workspace has no file yet to compare with"));
    }
    try {
      Path file = Files.createTempFile(folder, ".doctor", "");
      Instant now = Instant.now();
      Duration skew = Duration.between(now, Files.getLastModifiedTime(file).toInstant());
      Files.delete(file);
      return List.of(
          skew.abs().compareTo(MOST_SKEW) <= 0
              ? CheckFinding.ok("clock", "this machine and the file system agree")
              : CheckFinding.advice(
                  "clock",
                  "the file system is %s s %s this machine"
                      .formatted(skew.abs().toSeconds(), skew.isNegative() ? "behind" : "ahead of"),
                  "times in records, locks of other hosts, the end of approvals",
                  Advice.command(
                      "root types it, on the machine that is wrong",
                      "timedatectl",
                      "set-ntp",
                      "true")));
    } catch (IOException failed) {
      return List.of(CheckFinding.unknown("clock", "cannot write to " + folder + ": " + failed));
    }
  }

  static List<CheckFinding> team(Context context) {
    Workspace workspace = context.workspace();
    if (context.missing().isPresent() || !workspace.isShared()) {
      return List.of(CheckFinding.ok("team", "the workspace is not shared with a group"));
    }
    Path runs = workspace.runs();
    if (Files.isWritable(runs)) {
      return List.of(CheckFinding.ok("team", "the workspace is shared, and you may work in it"));
    }
    try {
      String group = Files.readAttributes(runs, PosixFileAttributes.class).group().getName();
      return List.of(
          CheckFinding.failed(
              "team",
              "the workspace belongs to the group %s, and you are not in it".formatted(group),
              "submit, and reading the runs of others",
              Advice.command(
                  "root types it; then log in again",
                  "usermod",
                  "-aG",
                  group,
                  UnixUser.me().user())));
    } catch (IOException failed) {
      return List.of(CheckFinding.unknown("team", "the group of " + runs + " cannot be read"));
    }
  }

  static List<CheckFinding> cron(Context context) {
    if (context.missing().isPresent()) {
      return List.of(CheckFinding.ok("cron", "without a workspace no pass is needed"));
    }
    CronPasses.Shown shown = new CronPasses(context).show();
    String affects = "costs, manifests and notifications of ended jobs";
    Path open = context.workspace().runs().resolve("open");
    boolean unfinished =
        Files.isDirectory(open)
            && DurableFiles.list(open, "*").stream()
                .anyMatch(run -> !run.getFileName().toString().startsWith("."));
    List<Advice> install = OtherPasses.first(context.environment());
    if (shown.notRead().isPresent()) {
      return List.of(CheckFinding.unknown("cron", shown.notRead().get()));
    }
    if (shown.installed().isEmpty()) {
      return List.of(
          new CheckFinding(
              "cron",
              unfinished && shown.check().late()
                  ? CheckFinding.Result.FAILED
                  : CheckFinding.Result.ADVICE,
              "no pass is scheduled",
              affects,
              install));
    }
    for (CronPasses.Installed one : shown.installed()) {
      if (one.start().isPresent()) {
        return List.of(
            CheckFinding.failed(
                "cron",
                "the timer is written and not enabled",
                affects,
                Advice.command("", (Object[]) one.start().get().split(" "))));
      }
    }
    boolean behind = shown.heartbeat().flatMap(Heartbeat::behindSince).isPresent();
    return List.of(
        shown.check().late() || behind
            ? CheckFinding.failed(
                "cron",
                shown.check().words(),
                affects,
                Advice.command(
                    "makes a pass now, and prints what stops it", "nexa-slurm reconcile"),
                Advice.command("corrects the line", "nexa-slurm cron install"))
            : CheckFinding.ok("cron", shown.check().words()));
  }
}
