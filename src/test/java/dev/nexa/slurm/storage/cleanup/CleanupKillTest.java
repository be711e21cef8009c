package dev.nexa.slurm.storage.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.storage.cleanup.CleanupJournal.CleanupId;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SIGKILL at each step: each path is in its place, or in the trash with a line in the journal, or
 * its deletion was announced. The next call finishes the work. {@code dev/full storage} kills 200
 * times.
 */
@Tag("long")
class CleanupKillTest {
  private static final int KILLS = SuiteSize.of("cleanup.kills", 15, 200);
  private static final int KILLED = 137;
  private static final int RUNS = 3;

  @TempDir Path folder;

  @Test
  void noPathIsLost() throws Exception {
    Random random = new Random(Long.getLong("cleanup.seed", 46));
    CleanupStep[] steps = CleanupStep.values();
    Map<CleanupStep, Integer> kills = new EnumMap<>(CleanupStep.class);
    for (int n = 0; n < KILLS; n++) {
      CleanupStep step = steps[n % steps.length];
      trial(folder.resolve("" + n), step, 1 + random.nextInt(RUNS), kills);
    }
    System.out.println("cleanup kills: " + kills);
    assertThat(kills.values().stream().mapToInt(Integer::intValue).sum())
        .isGreaterThanOrEqualTo(KILLS - KILLS / 5);
  }

  private void trial(Path at, CleanupStep step, int nth, Map<CleanupStep, Integer> kills)
      throws Exception {
    CleanupSite site = new CleanupSite(at);
    List<Path> lefts = new ArrayList<>();
    for (int n = 1; n <= RUNS; n++) {
      lefts.add(site.scratchOf(site.ended("train_2025100" + n + "_143200"), "content " + n));
    }
    boolean deletes = step.name().contains("DELET");
    boolean returns = step.name().startsWith("RE") && step != CleanupStep.RENAMED;
    String act = "clean";
    if (deletes || returns) {
      CleanTiers clean = site.clean(passed -> {});
      CleanupId id = clean.run(site.plan(clean, Duration.ZERO)).id().orElseThrow();
      act = returns ? id.value() : act;
    }
    int once = step == CleanupStep.BEGUN ? 1 : nth;
    if (killed(at, act, step, once)) {
      kills.merge(step, 1, Integer::sum);
    }
    judge(site, lefts, step);
    // A second kill of a later call, then the call that finishes.
    if (!returns) {
      killed(at, act, CleanupStep.RENAMED, 1);
      judge(site, lefts, step);
    }
    if (returns) {
      CleanTiers.Done undone = site.clean(passed -> {}).undo(act);
      assertThat(undone.failed()).as("%s", step).isEmpty();
      for (int n = 1; n <= RUNS; n++) {
        assertThat(lefts.get(n - 1).resolve("task_0/data.bin")).hasContent("content " + n);
      }
    } else {
      for (int call = 0; call < 2; call++) {
        CleanTiers clean = site.clean(passed -> {});
        assertThat(clean.run(site.plan(clean, Duration.ZERO)).failed()).isEmpty();
      }
      for (Path left : lefts) {
        assertThat(left).doesNotExist();
      }
      // Only the claims may lie in the trash now: they go when the folders are gone.
      CleanTiers clean = site.clean(passed -> {});
      clean.run(site.plan(clean, Duration.ZERO));
      clean.run(site.plan(clean, Duration.ZERO));
    }
    assertThat(site.scratch.resolve(Trash.FOLDER)).as("%s %d", step, nth).doesNotExist();
  }

  private static boolean killed(Path at, String act, CleanupStep step, int nth) throws Exception {
    Process process =
        new ProcessBuilder(
                OwnJvm.words(CrashingCleanup.class, at.toString(), act, step.name(), "" + nth))
            .redirectErrorStream(true)
            .redirectOutput(at.resolve("said").toFile())
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      int exit = process.exitValue();
      assertThat(exit).as(Files.readString(at.resolve("said"))).isIn(0, KILLED);
      return exit == KILLED;
    } finally {
      process.destroyForcibly();
    }
  }

  /** Each file is whole in its place or in the trash, unless its deletion was announced. */
  private static void judge(CleanupSite site, List<Path> lefts, CleanupStep step) {
    List<TrashedPath> known = new ArrayList<>();
    for (CleanupJournal journal : CleanupJournal.all(site.workspace)) {
      journal.read().ifPresent(state -> known.addAll(state.paths()));
    }
    for (Path left : lefts) {
      boolean inPlace = Files.isRegularFile(left.resolve("task_0/data.bin"));
      boolean explained = inPlace;
      for (TrashedPath path : known) {
        Path trashed = path.tier().resolve(path.trash());
        boolean there = Files.exists(trashed, LinkOption.NOFOLLOW_LINKS);
        if (path.full().equals(left)) {
          boolean gone =
              path.phase() == TrashedPath.Phase.DELETING
                  || path.phase() == TrashedPath.Phase.DELETED;
          explained |= gone || Files.isRegularFile(trashed.resolve("task_0/data.bin"));
          assertThat(inPlace && there).as("%s is in two places", left).isFalse();
        }
      }
      assertThat(explained).as("%s after a kill at %s", left, step).isTrue();
    }
  }
}
