package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.command.records.AuditRuns;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.start.SubmitRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * On the real cluster: slurmdbd is stopped and started and slurmctld is restarted while arrays run;
 * in the end each run's attempts and seconds are those of slurm_acct_db.
 */
@Tag("slurm")
@Tag("stops-slurm")
@ResourceLock("slurm")
@Execution(ExecutionMode.SAME_THREAD)
class AccountingFaultTest {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** More in {@code dev/full daemons}. */
  private static final int RUNS = SuiteSize.of("accounting.runs", 3, 12);

  @TempDir private Path folder;

  @AfterEach
  void makeWhole() {
    if (Cluster.isOurs()) {
      Cluster.dev("up");
    }
  }

  @Test
  void sumsAreTheDatabasesAfterItsDaemonsWereDown() throws Exception {
    assumeTrue(Cluster.isOurs(), "only root can stop slurmdbd");
    String stage = "a" + Long.toString(System.currentTimeMillis(), 36);
    TrialWorkspace workspace = new TrialWorkspace(folder, stage, 15);
    Files.writeString(
        folder.resolve("work.yaml"),
        """
        stage: %s
        backend: shell
        run: echo "$NEXA_RUN_ID $NEXA_TASK" >>"$NEXA_SHARED/worked"; sleep $((1 + NEXA_TASK)); [ $NEXA_TASK != 2 ]
        array: {shards: 4}
        resources: {memory: 50M, time: 5m}
        """
            .formatted(stage));
    Context context = workspace.context(System.getenv(), CrashPoint.NONE);
    for (int run = 0; run < RUNS - 1; run++) {
      new SubmitRun(context).submit(workspace.request(), Optional.empty(), Optional.empty());
    }
    Cluster.dev("dbd", "stop");
    try {
      new SubmitRun(context).submit(workspace.request(), Optional.empty(), Optional.empty());
      assertThat(new ReconcileRuns(context).reconcile().outage()).isPresent();
      Thread.sleep(3000);
    } finally {
      Cluster.dev("dbd", "start");
    }
    // Saves its state first: others' jobs are not ours to lose.
    Cluster.run(List.of("scontrol", "shutdown", "slurmctld"));
    try {
      new ReconcileRuns(context).reconcile();
    } catch (NexaException outage) {
      System.out.println("while slurmctld is down: " + outage.getMessage());
    } finally {
      Cluster.dev("up");
    }
    CompletableFuture<Void> other = CompletableFuture.runAsync(() -> heal(context));
    heal(context);
    other.get();

    assertThat(workspace.runs()).hasSize(RUNS);
    assertThat(workspace.worked()).hasSize(4 * RUNS).doesNotHaveDuplicates();
    assertThat(workspace.litter()).isEmpty();
    for (RunId id : workspace.runs()) {
      likeTheDatabase(workspace.workspace().run(id));
    }
    assertThat(audit(context)).isEmpty();
    eachPlantedEditIsFound(context, workspace);
  }

  private static void likeTheDatabase(RunFolder run) {
    List<JsonObject> attempts =
        Json.parseObject(DurableFiles.read(run.cost())).object("actual").objects("attempts");
    long seconds = attempts.stream().mapToLong(row -> row.number("elapsed_seconds")).sum();
    String sql =
        "SELECT COUNT(*), SUM(time_end - time_start), MIN(time_end) > 0 FROM nexa_job_table"
            + " WHERE deleted = 0 AND time_start > 0 AND job_name LIKE '"
            + run.id()
            + ".%'";
    assertThat(Cluster.dev("sql", sql).strip())
        .as("%s: attempts and seconds", run.id())
        .isEqualTo(attempts.size() + "\t" + seconds + "\t1");
  }

  private static List<String> audit(Context context) {
    return new AuditRuns(context, Progress.NONE)
        .audit(context.workspace().everyRun(), false)
        .differences();
  }

  private static void eachPlantedEditIsFound(Context context, TrialWorkspace workspace) {
    Random random = new Random(1);
    RunFolder run = context.workspace().run(workspace.runs().get(0));
    List<PlantedEdit> overlooked = new ArrayList<>();
    for (PlantedEdit edit : PlantedEdit.values()) {
      Runnable takeBack = edit.plant(context.workspace(), run, random);
      if (audit(context).stream().noneMatch(found -> found.contains(run.id().value()))) {
        overlooked.add(edit);
      }
      takeBack.run();
    }
    assertThat(overlooked).isEmpty();
    assertThat(audit(context)).isEmpty();
  }

  private static void heal(Context context) {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!context.workspace().openRuns().isEmpty()) {
      assertThat(Instant.now()).as("healed in time").isBefore(deadline);
      new ReconcileRuns(context).reconcile();
      try {
        Thread.sleep(700);
      } catch (InterruptedException interrupted) {
        throw new AssertionError(interrupted);
      }
    }
  }
}
