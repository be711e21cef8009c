package dev.nexa.slurm.storage.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.cleanup.CleanupJournal;
import dev.nexa.slurm.storage.cleanup.TrashedPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SIGKILL at each step of an archive and of a restore: no half bundle has a name, no file is lost,
 * and the next call finishes the work. {@code dev/full storage} kills 200 times.
 */
@Tag("long")
class ArchiveKillTest {
  private static final int KILLS = SuiteSize.of("archive.kills", 12, 200);
  private static final int KILLED = 137;

  /** Steps of an archive, those of the trash among them, then steps of a restore. */
  private static final List<String> STEPS =
      List.of(
          "HALF_WRITTEN",
          "RECORDED",
          "WRITTEN",
          "ANNOUNCED",
          "CHECKED",
          "RENAMED",
          "CLAIMED",
          "MOVED",
          "PLACED",
          "JOURNALED",
          "HALF_EXTRACTED",
          "EXTRACTED",
          "RETURNED");

  @TempDir Path folder;

  @Test
  void nothingIsHalfOrLost() throws Exception {
    Random random = new Random(Long.getLong("archive.seed", 50));
    Map<String, Integer> kills = new TreeMap<>();
    int first = KILLS < STEPS.size() ? random.nextInt(2) : 0;
    for (int n = 0; n < KILLS; n++) {
      String step = STEPS.get((first + n) % STEPS.size());
      if (trial(folder.resolve("" + n), step, 1 + random.nextInt(2))) {
        kills.merge(step, 1, Integer::sum);
      }
    }
    System.out.println("archive kills: " + kills);
    assertThat(kills.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(KILLS);
  }

  private boolean trial(Path at, String step, int nth) throws Exception {
    ArchiveSite site = new ArchiveSite(Files.createDirectories(at));
    List<RunFolder> runs = new ArrayList<>();
    Map<Path, Map<String, String>> before = new TreeMap<>();
    for (int n = 1; n <= 2; n++) {
      RunFolder run = site.run("train_2025100" + n + "_143200");
      runs.add(run);
      before.put(site.checkpoints(run), ArchiveSite.tree(site.checkpoints(run)));
    }
    boolean restores = STEPS.indexOf(step) >= STEPS.indexOf("HALF_EXTRACTED");
    if (restores) {
      assertThat(site.archive(runs, passed -> {}, passed -> {}))
          .allMatch(one -> one.failed().isEmpty());
      assertThat(before.keySet()).noneMatch(Files::exists);
    }
    boolean killed = killed(at, restores ? "restore" : "archive", step, nth, runs);
    judge(site, before);
    if (restores) {
      for (RunFolder run : runs) {
        if (!Files.exists(site.checkpoints(run)) || isLeft(site, run)) {
          try (FolderPlace place = site.place()) {
            new RestoreRun(site.site.workspace, place, Progress.NONE)
                .toOldPlace(ArchiveFile.require(site.site.workspace, run.id()));
          }
        }
      }
      before.forEach((path, tree) -> assertThat(ArchiveSite.tree(path)).as(step).isEqualTo(tree));
      for (RunFolder run : runs) {
        assertThat(site.site.durable.resolve("evals/" + run.id() + "/scores.json")).exists();
      }
      assertThat(site.site.durable.resolve(".nexa-restore")).doesNotExist();
    } else {
      assertThat(site.archive(runs, passed -> {}, passed -> {}))
          .as("%s", step)
          .extracting(one -> one.failed().map(Exception::getMessage))
          .containsOnly(Optional.empty());
      assertThat(before.keySet()).noneMatch(Files::exists);
      judge(site, before);
      for (RunFolder run : runs) {
        ArchiveFile archive = ArchiveFile.require(site.site.workspace, run.id());
        try (FolderPlace place = site.place()) {
          assertThat(BundleReader.verify(site.site.workspace, archive, place, true, Progress.NONE))
              .isTrue();
        }
      }
      try (Stream<Path> left = Files.list(site.cold)) {
        assertThat(left.map(file -> file.getFileName().toString()))
            .as(step)
            .noneMatch(name -> name.endsWith(".tmp"))
            .hasSize(4);
      }
    }
    return killed;
  }

  /** Returns whether a restore of the run was killed before its end. */
  private static boolean isLeft(ArchiveSite site, RunFolder run) throws IOException {
    Path hidden = site.site.durable.resolve(".nexa-restore");
    if (!Files.isDirectory(hidden)) {
      return false;
    }
    try (Stream<Path> left = Files.list(hidden)) {
      return left.anyMatch(path -> path.getFileName().toString().startsWith(run.id().value()));
    }
  }

  private static boolean killed(Path at, String act, String step, int nth, List<RunFolder> runs)
      throws Exception {
    List<String> command = OwnJvm.words(CrashingArchive.class, at.toString(), act, step, "" + nth);
    runs.forEach(run -> command.add(run.id().value()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(at.resolve("said").toFile())
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).as(Files.readString(at.resolve("said"))).isIn(0, KILLED);
      return process.exitValue() == KILLED;
    } finally {
      process.destroyForcibly();
    }
  }

  /** Each bundle with a name is whole, and each run is whole in its place or in the trash. */
  private static void judge(ArchiveSite site, Map<Path, Map<String, String>> before)
      throws IOException {
    try (Stream<Path> documents = Files.list(site.cold)) {
      for (Path file : documents.filter(one -> one.toString().endsWith(".zst")).toList()) {
        String document = file.toString().replace(".tar.zst", ".archive.json");
        ArchiveFile archive = ArchiveFile.parse(Files.readString(Path.of(document)), document);
        try (FolderPlace place = site.place()) {
          BundleReader.verify(site.site.workspace, archive, place, true, Progress.NONE);
        }
      }
    }
    List<TrashedPath> trashed = new ArrayList<>();
    CleanTiers clean = site.site.clean(passed -> {});
    for (CleanupJournal.State state : clean.journals().states()) {
      trashed.addAll(state.paths());
    }
    before.forEach(
        (path, tree) -> {
          boolean whole = Files.exists(path) && ArchiveSite.tree(path).equals(tree);
          for (TrashedPath one : trashed) {
            Path held = one.tier().resolve(one.trash());
            whole |=
                one.full().equals(path)
                    && Files.exists(held)
                    && ArchiveSite.tree(held).equals(tree);
          }
          assertThat(whole).as("%s", path).isTrue();
        });
  }
}
