package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.ReadProgress;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.Victim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Kills {@code pipeline run} with SIGKILL, at crash points and at random moments, on the real
 * Slurm. Afterwards passes of reconcile either finish the pipeline, with each task's work done once
 * and on complete input, or no stage ever ran. {@code -Dpipeline.kills=N} asks for more kills.
 */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Execution(ExecutionMode.SAME_THREAD)
class PipelineKillTest {
  private static final int KILLS = SuiteSize.of("pipeline.kills", 3, 100);
  private static final int AT_ONCE = 8;

  /**
   * Where, and at which passing of the point: a pipeline of three stages passes most points thrice.
   */
  private record Death(CrashPoint point, int nth) {}

  private static final List<Death> DEATHS =
      List.of(
          new Death(CrashPoint.PIPELINE_STAGED, 1),
          new Death(CrashPoint.PIPELINE_WRITTEN, 1),
          new Death(CrashPoint.INTENT_WRITTEN, 2),
          new Death(CrashPoint.CLIENT_ANSWERED, 1),
          new Death(CrashPoint.RUN_CLAIMED, 2),
          new Death(CrashPoint.RECEIPT_WRITTEN, 2),
          new Death(CrashPoint.CLIENT_STARTED, 3));

  @Test
  void everyStageDoesItsWorkOnceOrNoneDoes(@TempDir Path folder) throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    Random random = new Random(seed);
    List<Callable<Boolean>> trials = new ArrayList<>();
    for (int i = 0; i < KILLS; i++) {
      Path root = Files.createDirectories(folder.resolve("w" + i));
      boolean planned = i % 2 == 0 || KILLS < 16;
      Death death =
          planned && i < KILLS - 1
              ? DEATHS.get((planned && KILLS >= 16 ? i / 2 : i) % DEATHS.size())
              : new Death(CrashPoint.FINISHED_WRITTEN, 0);
      int millis = 300 + random.nextInt(1500);
      trials.add(() -> trial(root, death, millis));
    }
    int whole = 0;
    ExecutorService workers = Executors.newFixedThreadPool(AT_ONCE);
    try {
      SoftAssertions all = new SoftAssertions();
      for (Future<Boolean> trial : workers.invokeAll(trials)) {
        try {
          whole += trial.get() ? 1 : 0;
        } catch (java.util.concurrent.ExecutionException failed) {
          all.fail("seed " + seed + ": " + failed.getCause(), failed.getCause());
        }
      }
      all.assertAll();
    } finally {
      workers.shutdownNow();
    }
    System.out.printf(
        "pipeline kills: %d of %d pipelines were finished, of the others no stage ran; seed %d%n",
        whole, KILLS, seed);
  }

  /** Returns whether the pipeline was finished; else no stage ran. */
  private static boolean trial(Path root, Death death, int millis) throws Exception {
    TrialPipeline pipeline = TrialPipeline.in(root, "max_resubmits: 10\n");
    Context context = pipeline.context();
    try (Victim victim = Victim.start(root, "pipeline", death.point(), Math.max(1, death.nth()))) {
      if (death.nth() == 0) {
        victim.killAfter(millis);
      } else if (victim.stopped()) {
        victim.kill();
      }
    }
    pipeline.heal();
    List<PipelineFolder> pipelines = context.workspace().allPipelines();
    List<String> worked = pipeline.worked();
    if (pipelines.isEmpty()) {
      assertThat(worked).as("%s %s", root, death).isEmpty();
      return false;
    }
    PipelineProgress end = new ReadProgress(context).of(pipelines.get(0), new ArrayList<>());
    assertThat(end.state().text()).as("%s %s: %s", root, death, end).isEqualTo("completed");
    assertThat(worked).as("%s %s", root, death).containsExactlyElementsOf(TrialPipeline.WORK);
    end.stages()
        .forEach(
            stage ->
                assertThat(
                        RunState.of(context.workspace().run(stage.stage().run()).journal().read())
                            .finished())
                    .isTrue());
    return true;
  }
}
