package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.ReadProgress;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.submit.Cluster;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Pipelines while the daemons of a real Slurm die, and while a disk is full. */
@Tag("slurm")
@Tag("stops-slurm")
@ResourceLock("slurm")
@Execution(ExecutionMode.SAME_THREAD)
class PipelineFaultTest {
  /** How often slurmctld may save all jobs before it dies until we give up. */
  private static final int ATTEMPTS = 6;

  @TempDir private Path folder;

  @BeforeEach
  void needsRoot() {
    assumeTrue(Cluster.isOurs(), "only root can kill a controller and mount a disk");
  }

  @AfterEach
  void makeWhole() {
    Cluster.dev("up");
  }

  /** slurmctld saves up to 5 s late, so a kill -9 takes the newest jobs with it. */
  @Test
  void jobsThatTheControllerLostAreMadeAgain() throws Exception {
    int lost = 0;
    for (int attempt = 0; attempt < ATTEMPTS && lost == 0; attempt++) {
      TrialPipeline trial =
          TrialPipeline.in(folder.resolve("lost" + attempt), "max_resubmits: 3\n");
      Cluster.run(List.of("scontrol", "update", "PartitionName=cpu", "State=DOWN"));
      type(trial, 0, "pipeline", "run", trial.file().toString());
      Cluster.dev("ctld", "kill");
      // A pass without a controller changes nothing.
      type(trial, 4, "reconcile");
      Cluster.dev("ctld", "start");
      trial.heal();
      assertCompleted(trial);
      lost = lostJobs(trial);
    }
    assertThat(lost).as("no job was lost in %s attempts", ATTEMPTS).isPositive();
  }

  /** The controller forgets the job that runs a task again, and for which job a stage waits. */
  @Test
  void jobsThatWereLostAfterAResumeAreMadeAgain() throws Exception {
    int lost = 0;
    for (int attempt = 0; attempt < ATTEMPTS && lost == 0; attempt++) {
      TrialPipeline trial =
          TrialPipeline.in(folder.resolve("resumed" + attempt), "max_resubmits: 3\n");
      trial.stage(
          "train",
          "[[ -e mended ]] || exit 3; echo \"train 0 $(cat \"${stages.prepare.output}\"/* | wc -l)\""
              .replace("mended", trial.root().resolve("mended").toString()),
          "");
      type(trial, 0, "pipeline", "run", trial.file().toString());
      until(trial, "failed", "blocked");
      Cluster.awaitSaved();
      Files.createFile(trial.root().resolve("mended"));
      Cluster.run(List.of("scontrol", "update", "PartitionName=cpu", "State=DOWN"));
      type(trial, 0, "pipeline", "resume", "latest");
      Cluster.dev("ctld", "kill");
      Cluster.dev("ctld", "start");
      trial.heal();
      assertCompleted(trial);
      // One more submission than the resume itself.
      lost = lostJobs(trial) - 1;
    }
    assertThat(lost).as("no job was lost in %s attempts", ATTEMPTS).isPositive();
  }

  @Test
  void aControllerThatDiesInTheMiddleChangesNothing() throws Exception {
    TrialPipeline trial = TrialPipeline.in(folder, "");
    trial.stage(
        "train", "sleep 12; echo \"train 0 $(cat \"${stages.prepare.output}\"/* | wc -l)\"", "");
    type(trial, 0, "pipeline", "run", trial.file().toString());
    awaitWork(trial, 2);
    awaitRunning("train_");
    // A job that it has not saved is the case above.
    Cluster.awaitSaved();
    Cluster.dev("ctld", "kill");
    awaitWork(trial, 3);
    Cluster.dev("ctld", "start");
    trial.heal();
    assertCompleted(trial);
  }

  @Test
  void stagesFollowEachOtherWithoutAccounting() throws Exception {
    TrialPipeline trial = TrialPipeline.in(folder, "");
    Cluster.dev("dbd", "stop");
    try {
      type(trial, 0, "pipeline", "run", trial.file().toString());
      awaitWork(trial, TrialPipeline.WORK.size());
      assertThat(type(trial, 4, "reconcile")).contains("sacct failed");
      assertThat(type(trial, 4, "pipeline", "status")).contains("sacct failed");
    } finally {
      Cluster.dev("dbd", "start");
    }
    trial.heal();
    assertCompleted(trial);
  }

  @Test
  void aFullScratchDiskFailsItsStageOnly() throws Exception {
    TrialPipeline trial = TrialPipeline.in(folder, "");
    trial.stage(
        "train",
        "head -c 4M /dev/zero >\"$NEXA_TASK_SCRATCH/big\" || exit 3;"
            + " echo \"train 0 $(cat \"${stages.prepare.output}\"/* | wc -l)\"",
        "");
    Path scratch = Files.createDirectories(folder.resolve("scratch"));
    Cluster.run(List.of("mount", "-t", "tmpfs", "-o", "size=2m,mode=1777", "tmpfs", "" + scratch));
    try {
      type(trial, 0, "pipeline", "run", trial.file().toString());
      String status = until(trial, "failed", "blocked");
      assertThat(status).contains("blocked");
      assertThat(trial.worked()).containsExactly("prepare 0", "prepare 1");

      Cluster.run(List.of("mount", "-o", "remount,size=32m", "" + scratch));
      type(trial, 0, "pipeline", "resume", "latest");
      until(trial, "completed");
      trial.heal();
      assertCompleted(trial);
    } finally {
      Cluster.run(List.of("umount", "--lazy", "" + scratch));
    }
  }

  private static void assertCompleted(TrialPipeline trial) throws Exception {
    Context context = trial.context();
    PipelineFolder pipeline = context.workspace().allPipelines().get(0);
    PipelineProgress end = new ReadProgress(context).of(pipeline, new ArrayList<>());
    List<RunState> runs =
        context.workspace().allRuns().stream()
            .map(id -> RunState.of(context.workspace().run(id).journal().read()))
            .toList();
    assertThat(end.state().text()).as("%s", runs).isEqualTo("completed");
    assertThat(trial.worked()).containsExactlyElementsOf(TrialPipeline.WORK);
    assertThat(type(trial, 0, "audit")).doesNotContain("differs");
  }

  /** Returns how many submissions of all runs were made again. */
  private static int lostJobs(TrialPipeline trial) {
    Context context = trial.context();
    return context.workspace().allRuns().stream()
        .mapToInt(
            id ->
                RunState.of(context.workspace().run(id).journal().read()).submissions().size() - 1)
        .sum();
  }

  private static void awaitWork(TrialPipeline trial, int lines) throws Exception {
    for (int i = 0; trial.worked().size() < lines; i++) {
      assertThat(i).as("%s", trial.worked()).isLessThan(600);
      Thread.sleep(200);
    }
  }

  private static void awaitRunning(String name) throws InterruptedException {
    List<String> running = List.of("squeue", "--noheader", "--states=R", "--format=%j");
    for (int i = 0; Cluster.run(running).lines().noneMatch(job -> job.startsWith(name)); i++) {
      assertThat(i).as("%s does not run", name).isLessThan(600);
      Thread.sleep(100);
    }
  }

  /** Returns {@code pipeline status} as soon as it has one of the words. */
  private static String until(TrialPipeline trial, String... words) throws Exception {
    String status = "";
    for (int i = 0; i < 100; i++) {
      type(trial, 0, "reconcile");
      status = type(trial, 0, "pipeline", "status");
      if (List.of(words).stream().anyMatch(status::contains)) {
        return status;
      }
      Thread.sleep(700);
    }
    throw new AssertionError(status);
  }

  private static String type(TrialPipeline trial, int exit, String... command) {
    StringWriter said = new StringWriter();
    PrintWriter out = new PrintWriter(said, true);
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of("--workspace", trial.root().toString()));
    int status = Main.run(all.toArray(String[]::new), System.getenv(), out, out);
    assertThat(status).as("%s: %s", all, said).isEqualTo(exit);
    return said.toString();
  }
}
