package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.files.Steps;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A process that archives or restores, and kills itself with SIGKILL at a step. */
final class CrashingArchive {
  private CrashingArchive() {}

  /** The folder, {@code archive} or {@code restore}, the step, which passing of it, the runs. */
  public static void main(String[] args) {
    ArchiveSite site = new ArchiveSite(Path.of(args[0]));
    AtomicInteger left = new AtomicInteger(Integer.parseInt(args[3]));
    List<RunFolder> runs =
        Stream.of(args).skip(4).map(id -> site.site.workspace.run(new RunId(id))).toList();
    if (args[1].equals("archive")) {
      site.archive(runs, step -> pass(step, args[2], left), step -> pass(step, args[2], left));
    } else {
      try (FolderPlace place = site.place()) {
        RestoreRun restore =
            new RestoreRun(
                new Workspace(
                    site.site.workspace.root(), Steps.told(step -> pass(step, args[2], left))),
                place,
                Progress.NONE);
        for (RunFolder run : runs) {
          restore.toOldPlace(ArchiveFile.require(site.site.workspace, run.id()));
        }
      }
    }
  }

  private static void pass(Enum<?> step, String wanted, AtomicInteger left) {
    if (step.name().equals(wanted) && left.decrementAndGet() == 0) {
      try {
        new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start().waitFor();
        Thread.sleep(60_000);
      } catch (Exception failed) {
        throw new IllegalStateException(failed);
      }
    }
  }
}
