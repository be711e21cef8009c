package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.pipeline.run.AdvancePipelines;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.ReadProgress;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.Victim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
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
  private static final int KILLS = Integer.getInteger("pipeline.kills", 8);
  private static final int AT_ONCE = 8;
  private static final Duration PATIENCE = Duration.ofMinutes(4);

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
    Context context = workspace(root);
    try (Victim victim = Victim.start(root, "pipeline", death.point(), Math.max(1, death.nth()))) {
      boolean kills = death.nth() == 0 ? victim.livesFor(millis) : victim.stopped();
      if (kills) {
        victim.kill();
      }
    }
    heal(context);
    List<PipelineFolder> pipelines = context.workspace().allPipelines();
    List<String> worked =
        Files.exists(root.resolve("worked"))
            ? Files.readAllLines(root.resolve("worked")).stream().sorted().toList()
            : List.of();
    if (pipelines.isEmpty()) {
      assertThat(worked).as("%s %s", root, death).isEmpty();
      return false;
    }
    PipelineProgress end = new ReadProgress(context).of(pipelines.get(0), new ArrayList<>());
    assertThat(end.state()).as("%s %s: %s", root, death, end).isEqualTo("completed");
    assertThat(worked)
        .as("%s %s", root, death)
        .containsExactly("eval 0 2", "prepare 0", "prepare 1", "train 0 2");
    end.stages()
        .forEach(
            stage ->
                assertThat(
                        RunState.of(context.workspace().run(stage.stage().run()).journal().read())
                            .finished())
                    .isTrue());
    return true;
  }

  private static void heal(Context context) throws InterruptedException {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!context.workspace().openRuns().isEmpty()
        || !context.workspace().openPipelines().isEmpty()) {
      assertThat(Instant.now()).as("%s", context.root()).isBefore(deadline);
      try {
        new ReconcileRuns(context).reconcile();
        new AdvancePipelines(context).advance(new ArrayList<>());
      } catch (SchedulerUnavailable outage) {
        System.err.println(outage.getMessage());
      }
      Thread.sleep(700);
    }
  }

  private static Context workspace(Path root) throws IOException {
    write(
        root,
        "configs/policy.yaml",
        "approval_over: {amount: 1000.00, currency: USD}\nmax_resubmits: 10\n"
            + "settle_window_seconds: 3\n");
    write(
        root,
        "configs/clusters/default.yaml",
        """
        scheduler: slurm
        health_check: false
        storage: {scratch: %1$s/scratch, durable: %1$s/durable, shared: %1$s/shared}
        slurm: {kill_wait_seconds: 5, message_timeout_seconds: 10}
        """
            .formatted(root));
    stage(
        root,
        "prepare",
        "mkdir -p \"$NEXA_OUTPUT\"; echo x >\"$NEXA_OUTPUT/$NEXA_TASK\"; echo \"prepare $NEXA_TASK\"",
        "array: {shards: 2}\n");
    String counts = "echo \"%s $NEXA_TASK $(cat \"${stages.prepare.output}\"/* | wc -l)\"";
    stage(root, "train", counts.formatted("train"), "");
    stage(root, "eval", counts.formatted("eval"), "");
    write(
        root,
        "pipeline.yaml",
        """
        stages:
          prepare: {config: prepare.yaml}
          train: {config: train.yaml, after: [prepare]}
          eval: {config: eval.yaml, after: [prepare, train]}
        """);
    return new Context(root, System.getenv());
  }

  private static void stage(Path root, String name, String line, String more) throws IOException {
    write(
        root,
        name + ".yaml",
        "stage: "
            + name
            + "\nbackend: shell\nrun: |\n  { "
            + line
            + "; } >>"
            + root
            + "/worked\nresources: {memory: 50M, time: 5m}\n"
            + more);
  }

  private static void write(Path root, String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    DurableFiles.onDisk().force(root);
  }
}
