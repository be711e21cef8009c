package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pipelines from the submit to the end. On the real Slurm and on this machine. */
@Tag("long")
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class PipelineRunTest {
  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
  }

  @ParameterizedTest
  @ValueSource(strings = {"slurm", "local"})
  void stagesUseWhatEarlierStagesMake(String scheduler) throws Exception {
    profile(scheduler);
    config(
        "prepare",
        "data",
        "mkdir -p \"$NEXA_OUTPUT\"; echo shard $NEXA_TASK >\"$NEXA_OUTPUT/$NEXA_TASK\"",
        "array: {shards: 3}\n");
    config(
        "train",
        "train",
        "mkdir -p \"$NEXA_CHECKPOINTS/final\"\n"
            + "  cat \"${stages.prepare.output}\"/* >\"$NEXA_CHECKPOINTS/final/model\"\n"
            + "  echo \"{\\\"checkpoint\\\": \\\"$NEXA_CHECKPOINTS/final\\\"}\" >\"$NEXA_METRICS\"",
        "");
    config(
        "eval",
        "eval",
        "cp \"$MODEL/model\" %s/result",
        "env: {MODEL: \"${stages.train.checkpoint}\"}\n");
    Path file =
        file(
            """
            stages:
              prepare: {config: prepare.yaml}
              train: {config: train.yaml, after: [prepare]}
              eval: {config: eval.yaml, after: [train]}
            """);

    JsonObject end =
        Json.parseObject(
            person.says(
                "pipeline", "run", file.toString(), "--cluster", "test", "--wait", "--json"));

    assertThat(end.text("state")).isEqualTo("completed");
    assertThat(Files.readString(workspace.resolve("result")))
        .isEqualTo("shard 0\nshard 1\nshard 2\n");
    for (JsonObject stage : end.objects("stages")) {
      JsonObject manifest =
          Json.parseObject(
              Files.readString(
                  workspace.resolve("runs/manifests/" + stage.text("run_id") + ".json")));
      assertThat(manifest.texts("tags")).contains("pipeline:" + end.text("pipeline_id"));
    }
    assertThat(person.says("pipeline", "list")).contains("completed  3/3");
    String name = end.text("name");
    assertThat(person.says("pipeline", "status", name))
        .isEqualTo(person.says("pipeline", "status", end.text("pipeline_id")));
    assertThat(person.says("costs", "--by", "tag")).contains("pipeline:" + end.text("pipeline_id"));
    assertThat(person.says("audit")).doesNotContain("differs");
  }

  @ParameterizedTest
  @MethodSource("schedulers")
  void aStageThatFailsBlocksTheNextUntilItsTasksAreRunAgain(String scheduler) throws Exception {
    profile(scheduler);
    config("prepare", "data", "true", "");
    config("train", "train", "[[ $NEXA_TASK != 1 || -e %s/mended ]]", "array: {shards: 3}\n");
    config("eval", "eval", "echo once >>%s/evaluated", "");
    config("report", "report", "echo once >>%s/reported", "");
    Path file =
        file(
            """
            stages:
              prepare: {config: prepare.yaml}
              train: {config: train.yaml, after: [prepare]}
              eval: {config: eval.yaml, after: [train]}
              report: {config: report.yaml, after: [prepare, eval]}
            """);
    JsonObject failed = ended(run(file), "blocked");
    assertThat(states(failed)).containsExactly("completed", "failed", "blocked", "blocked");
    assertThat(failed.objects("stages").get(2).text("why")).isEqualTo("train ended as failed");
    assertThat(failed.objects("stages").get(3).text("why")).isEqualTo("eval cannot start");
    String job = jobs(failed.objects("stages").get(2));
    assertThat(person.until("is blocked", "reconcile"))
        .contains(": eval is blocked, because train ended as failed; `nexa-slurm pipeline resume ")
        .contains(": report is blocked, because eval cannot start");

    Files.createFile(workspace.resolve("mended"));
    person.says("rerun", "--failed", failed.objects("stages").get(1).text("run_id"));
    JsonObject end = ended(failed.text("pipeline_id"), "completed");

    assertThat(states(end)).containsOnly("completed");
    assertThat(jobs(end.objects("stages").get(2))).as("eval keeps its job").isEqualTo(job);
    assertThat(Files.readString(workspace.resolve("evaluated"))).isEqualTo("once\n");
    assertThat(Files.readString(workspace.resolve("reported"))).isEqualTo("once\n");
  }

  @ParameterizedTest
  @MethodSource("schedulers")
  void aCancelledPipelineLeavesNothingInTheQueue(String scheduler) throws Exception {
    profile(scheduler);
    config("train", "train", "sleep 300", "");
    config("eval", "eval", "true", "");
    Path file =
        file(
            """
            stages:
              train: {config: train.yaml}
              eval: {config: eval.yaml, after: [train]}
              clean: {config: eval.yaml, after: [afterany:train]}
            """);
    String id = run(file);

    assertThat(person.says("pipeline", "cancel", id)).contains("asked train, eval, clean to end");
    JsonObject end = ended(id, "cancelled");

    assertThat(states(end)).containsOnly("cancelled");
    assertThat(person.until("0 unfinished runs", "reconcile")).isNotEmpty();
  }

  @ParameterizedTest
  @MethodSource("schedulers")
  void aStageForFailuresIsSkippedIfNothingFails(String scheduler) throws Exception {
    profile(scheduler);
    config("train", "train", "true", "");
    config("mail", "mail", "echo once >>%s/mailed", "");
    Path file =
        file(
            """
            stages:
              train: {config: train.yaml}
              mail: {config: mail.yaml, after: [afternotok:train]}
            """);

    JsonObject end = ended(run(file), "completed");

    assertThat(states(end)).containsExactly("completed", "skipped");
    assertThat(workspace.resolve("mailed")).doesNotExist();
  }

  @ParameterizedTest
  @MethodSource("schedulers")
  void aStageWithTasksThatCorrespondToAFailureIsBlocked(String scheduler) throws Exception {
    profile(scheduler);
    config("arr", "data", "[[ $NEXA_TASK != 1 || -e %s/mended ]]", "array: {shards: 3}\n");
    config("sum", "sum", "echo $NEXA_TASK >>%s/summed", "array: {shards: 3}\n");
    Path file =
        file(
            """
            stages:
              arr: {config: arr.yaml}
              sum: {config: sum.yaml, after: ["aftercorr:arr"]}
            """);
    JsonObject blocked = ended(run(file), "blocked");
    assertThat(states(blocked)).containsExactly("failed", "blocked");
    // Slurm's queue may forget a task that ended before its accounting knows the end.
    for (int i = 0; i < 100 && blocked.objects("stages").get(1).number("tasks_done") < 2; i++) {
      Thread.sleep(300);
      blocked = ended(blocked.text("pipeline_id"), "blocked");
    }
    assertThat(blocked.objects("stages").get(1).number("tasks_done")).isEqualTo(2);

    Files.createFile(workspace.resolve("mended"));
    person.says("pipeline", "resume", blocked.text("pipeline_id"));
    ended(blocked.text("pipeline_id"), "completed");
    assertThat(Files.readAllLines(workspace.resolve("summed")))
        .containsExactlyInAnyOrder("0", "1", "2");
  }

  @ParameterizedTest
  @MethodSource("schedulers")
  void resumeRunsAgainWhatFailedAndWhatWasCancelled(String scheduler) throws Exception {
    profile(scheduler);
    config("prepare", "data", "echo once >>%s/prepared", "");
    config(
        "train",
        "train",
        "echo $NEXA_TASK >>%s/trained; [[ $NEXA_TASK != 1 || -e %s/mended ]]",
        "array: {shards: 3}\n");
    config("eval", "eval", "echo once >>%s/evaluated", "");
    Path file =
        file(
            """
            stages:
              prepare: {config: prepare.yaml}
              train: {config: train.yaml, after: [prepare]}
              eval: {config: eval.yaml, after: [train]}
            """);
    String id = run(file);
    ended(id, "blocked");
    person.says("pipeline", "cancel", id);
    ended(id, "failed");
    person.until("0 unfinished runs", "reconcile");
    assertThat(person.fails("pipeline", "resume", "pipeline_20200101_000000"))
        .contains("there is no pipeline");

    Files.createFile(workspace.resolve("mended"));
    String resumed = person.says("pipeline", "resume", id);
    assertThat(resumed)
        .contains("prepare: it has completed")
        .contains("train: task 1 again")
        .contains("eval: task 0 again");
    JsonObject end = ended(id, "completed");

    assertThat(states(end)).containsOnly("completed");
    assertThat(Files.readString(workspace.resolve("prepared"))).isEqualTo("once\n");
    assertThat(Files.readString(workspace.resolve("evaluated"))).isEqualTo("once\n");
    assertThat(Files.readAllLines(workspace.resolve("trained")))
        .containsExactlyInAnyOrder("0", "1", "2", "1");
    assertThat(person.says("pipeline", "resume", id)).contains("nothing is left to run again");
  }

  @ParameterizedTest
  @MethodSource("schedulers")
  void aGateThatFailsEndsEverythingAfterIt(String scheduler) throws Exception {
    profile(scheduler);
    config("train", "train", "true", "");
    config(
        "gate",
        "gate",
        "echo '{\"gate\": {\"verdict\": \"fail\", \"reason\": \"dss is 3.1 against 3.5 (n = 200)\"}}'"
            + " >\"$NEXA_METRICS\"; exit 6",
        "");
    config("sync", "sync", "echo once >>%s/synced", "");
    config("serve", "web", "echo once >>%s/served", "");
    Path file =
        file(
            """
            stages:
              train: {config: train.yaml}
              gate: {config: gate.yaml, after: [train]}
              sync: {config: sync.yaml, after: [gate]}
              serve: {config: serve.yaml, after: [train, sync]}
            """);

    JsonObject end = ended(run(file), "failed");

    assertThat(states(end)).containsExactly("completed", "failed", "cancelled", "cancelled");
    assertThat(end.objects("stages").get(1).text("why"))
        .isEqualTo("dss is 3.1 against 3.5 (n = 200)");
    assertThat(person.until("0 unfinished runs", "reconcile")).isNotEmpty();
    assertThat(workspace.resolve("synced")).doesNotExist();
    assertThat(workspace.resolve("served")).doesNotExist();
  }

  @Test
  void stagesWithTheSamePlanAndInputsAreReused() throws Exception {
    profile("local");
    config("prepare", "data", "echo p >>%s/worked; mkdir -p \"$NEXA_OUTPUT\"", "");
    config("train", "train", "ls \"${stages.prepare.output}\"; echo t >>%s/worked", "lr: 1e-3\n");
    config("eval", "eval", "echo e >>%s/worked", "");
    Path file =
        file(
            """
            stages:
              prepare: {config: prepare.yaml}
              train: {config: train.yaml, after: [prepare]}
              eval: {config: eval.yaml, after: [train]}
            """);
    String[] again = {"pipeline", "run", file.toString(), "--cluster", "test", "--wait", "--reuse"};
    assertThat(person.says(again))
        .contains("prepare runs: it has not run yet", "train runs: prepare runs again");
    assertThat(person.says(again)).contains("eval is reused: the same plan and inputs");
    assertThat(person.says("pipeline", "list")).contains("3/3").doesNotContain("2/3");

    config("train", "train", "ls \"${stages.prepare.output}\"; echo t >>%s/worked", "lr: 1e-4\n");
    assertThat(person.says(again))
        .contains("prepare is reused: the same plan and inputs as data_")
        .contains("train runs: changed: lr")
        .contains("eval runs: train runs again")
        .contains("completed, cost ");
    assertThat(person.says("pipeline", "status")).contains("reused");
    String[] start = {
      "pipeline", "run", file.toString(), "--cluster", "test", "--wait", "--start-at", "eval"
    };
    assertThat(person.says(start)).contains("train is reused", "eval runs: --start-at names it");
    assertThat(Files.readAllLines(workspace.resolve("worked")))
        .containsExactly("p", "t", "e", "t", "e", "e");

    Path raw = Files.createDirectories(workspace.resolve("raw")).resolve("x.jsonl");
    String reads = "lr: 1e-4\ndataset_path: " + raw.getParent() + "\n";
    config("train", "train", "ls \"${stages.prepare.output}\"; echo t >>%s/worked", reads);
    person.says(again);
    assertThat(person.says(again)).contains("train is reused");
    Files.writeString(raw, "{}");
    assertThat(person.says(again)).contains("train runs: " + raw + " is new since train_");
    config("train", "train", "ls \"${stages.prepare.output}\"; echo t >>%s/worked", "lr: 1e-4\n");

    Path datasets = workspace.resolve("durable/datasets");
    Files.move(datasets, workspace.resolve("durable/moved"));
    assertThat(person.fails(start))
        .contains("prepare cannot be reused: " + datasets + "/data_", " is gone since data_");
    Files.move(workspace.resolve("durable/moved"), datasets);

    config("prepare", "data", "echo other", "");
    assertThat(person.fails(start))
        .contains("--start-at eval: the stage prepare cannot be reused: changed: run")
        .contains("or start at prepare");
    start[start.length - 1] = "evil";
    assertThat(person.fails(start)).contains("there is no stage 'evil' (did you mean 'eval'?)");
  }

  private String run(Path file) {
    return Json.parseObject(
            person.says("pipeline", "run", file.toString(), "--cluster", "test", "--json"))
        .text("pipeline_id");
  }

  /** Makes passes until the pipeline has the state. */
  private JsonObject ended(String id, String state) throws InterruptedException {
    long deadline = System.nanoTime() + 120_000_000_000L;
    while (true) {
      person.says("reconcile");
      JsonObject now = Json.parseObject(person.says("pipeline", "status", id, "--json"));
      if (now.text("state").equals(state) && settled(now)) {
        return now;
      }
      assertThat(System.nanoTime()).as("still %s", now).isLessThan(deadline);
      Thread.sleep(300);
    }
  }

  /** Whether the records of all stages that have ended are final. */
  private boolean settled(JsonObject pipeline) {
    for (JsonObject stage : pipeline.objects("stages")) {
      boolean over = List.of("completed", "failed", "cancelled").contains(stage.text("state"));
      if (over && Files.exists(workspace.resolve("runs/open/" + stage.text("run_id")))) {
        return false;
      }
    }
    return true;
  }

  private static List<String> states(JsonObject pipeline) {
    return pipeline.objects("stages").stream().map(stage -> stage.text("state")).toList();
  }

  /** The ids of the stage's jobs. */
  private String jobs(JsonObject stage) throws IOException {
    JsonObject manifest =
        Json.parseObject(
            Files.readString(
                workspace.resolve("runs/manifests/" + stage.text("run_id") + ".json")));
    return manifest.objects("submissions").stream().map(one -> "" + one.number("job_id")).toList()
        + "";
  }

  /** On this machine, the first test runs a whole pipeline in ./check too. */
  static List<String> schedulers() {
    return SuiteSize.FULL ? List.of("slurm", "local") : List.of("slurm");
  }

  private void profile(String scheduler) throws IOException {
    person.slurmProfile("scheduler: " + scheduler + "\nhealth_check: false\n");
  }

  private Path file(String text) throws IOException {
    return Files.writeString(workspace.resolve("pipeline.yaml"), text);
  }

  /** Writes a config. {@code %s} in the lines is the workspace. */
  private void config(String name, String stage, String run, String more) throws IOException {
    Files.writeString(
        workspace.resolve(name + ".yaml"),
        "stage: "
            + stage
            + "\nbackend: shell\nrun: |\n  "
            + run.replace("%s", workspace.toString())
            + "\nresources: {time: 5m, memory: 100M}\n"
            + more);
  }
}
