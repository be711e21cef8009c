package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Five tasks on a cluster whose arrays hold two: three submissions of one run, on real Slurm. */
@Tag("long")
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class PartsTest {

  @ParameterizedTest(name = "killed at {0}, the {1}. time")
  @CsvSource({
    "RECEIPT_WRITTEN, 1",
    "INTENT_WRITTEN, 2",
    "CLIENT_STARTED, 2",
    "CLIENT_ANSWERED, 2",
    "RECEIPT_WRITTEN, 2",
    "RECEIPT_WRITTEN, 3",
    "MANIFEST_WRITTEN, 1",
  })
  void whoeverDiesBetweenTwoOfThemEachTaskIsWorkedOnce(
      CrashPoint point, int nth, @TempDir Path folder) throws Exception {
    TrialWorkspace trial =
        killedAndHealed(
            folder,
            "parts",
            config ->
                config.replace("$SLURM_JOB_ID", "$NEXA_TASK $NEXA_TASKS")
                    + "array: {shards: 5, max_parallel: 3}\n",
            point,
            nth);

    String run = trial.run().id().value();
    assertThat(Files.readAllLines(folder.resolve("shared/worked")))
        .as(() -> trial.manifest() + "\n" + trial.logs())
        .containsExactlyInAnyOrder(
            run + " 0 5", run + " 1 5", run + " 2 5", run + " 3 5", run + " 4 5");
    JsonObject manifest = Json.parseObject(DurableFiles.read(trial.run().manifest()));
    assertThat(manifest.text("status")).isEqualTo("completed");
    assertThat(manifest.number("attempts")).isEqualTo(5);
    assertThat(tasksOfJobs(trial.state())).containsExactlyInAnyOrder("0-1", "2-3", "4");
    JsonObject cost = Json.parseObject(DurableFiles.read(trial.run().cost()));
    Set<Long> paid = new HashSet<>();
    cost.object("actual").objects("attempts").forEach(each -> paid.add(each.number("task")));
    assertThat(paid).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L);
  }

  @ParameterizedTest(name = "killed at {0}, the {1}. time")
  @CsvSource({
    "RECEIPT_WRITTEN, 1",
    "INTENT_WRITTEN, 3",
    "CLIENT_ANSWERED, 3",
    "RECEIPT_WRITTEN, 3"
  })
  @Tag("full")
  void whoeverDiesBetweenTwoLinksOfAChainItIsCompletedOnce(
      CrashPoint point, int nth, @TempDir Path folder) throws Exception {
    TrialWorkspace trial =
        killedAndHealed(
            folder,
            "chained",
            config ->
                config.replace("/worked\"", "/worked\"; exit 1") + "array: {shards: 3}\nchain: 2\n",
            point,
            nth);

    assertThat(Files.readAllLines(folder.resolve("shared/worked"))).hasSize(6);
    assertThat(tasksOfJobs(trial.state())).containsExactly("0-1", "2", "0-1", "2");
  }

  /** A run on arrays of two, whose submitter is killed, once somebody has healed it. */
  private static TrialWorkspace killedAndHealed(
      Path folder, String stage, UnaryOperator<String> config, CrashPoint point, int nth)
      throws Exception {
    TrialWorkspace trial = new TrialWorkspace(folder, stage, 3);
    Path profile = folder.resolve("configs/clusters/default.yaml");
    Files.writeString(
        profile, Files.readString(profile).replace("slurm: {", "slurm: {max_array_size: 2, "));
    Path work = folder.resolve("work.yaml");
    Files.writeString(work, config.apply(Files.readString(work)));
    try (Victim victim = Victim.start(folder, "submit", point, nth)) {
      assertThat(victim.stopped()).isTrue();
      victim.kill();
    }
    try (Victim healer = Victim.start(folder, "heal", CrashPoint.RUN_CLAIMED, 1)) {
      Instant deadline = Instant.now().plus(Duration.ofMinutes(3));
      while (!trial.workspace().openRuns().isEmpty()) {
        assertThat(Instant.now()).as(() -> "" + trial.state()).isBefore(deadline);
        Thread.sleep(200);
      }
      assertThat(healer.stopped()).isFalse();
    }
    return trial;
  }

  private static List<String> tasksOfJobs(RunState state) {
    return state.submissions().stream()
        .filter(submission -> submission.phase() == Submission.Phase.CONFIRMED)
        .map(submission -> submission.tasks().toString())
        .toList();
  }
}
