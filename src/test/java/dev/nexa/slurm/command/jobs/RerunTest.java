package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What is done with a run that exists: again, interrupted, waited for. On the real Slurm. */
@Tag("long")
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class RerunTest {
  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("health_check: false\nslurm: {max_array_size: 3}\n");
  }

  @Test
  void onlyWhatFailedRunsAgainWithinTheSameRun() throws Exception {
    Path config = config("train", "[[ -e %s/mended || $NEXA_TASK != [14] ]]", "array: {shards: 5}");
    JsonObject run = person.submitAndWait(config.toString());
    assertThat(person.manifest(run).text("status")).isEqualTo("failed");
    BigDecimal reserved = reserved(run);
    Files.createFile(workspace.resolve("mended"));

    JsonObject again = person.json("rerun", "latest", "--failed", "--wait", "--json");

    assertThat(again.text("run_id")).isEqualTo(run.text("run_id"));
    assertThat(again.number("tasks")).isEqualTo(2);
    assertThat(again.objects("jobs")).hasSize(2);
    JsonObject manifest = person.manifest(run);
    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(manifest.object("tasks").object("states").number("completed")).isEqualTo(5);
    assertThat(manifest.number("attempts")).isEqualTo(7);
    assertThat(person.cost(run).object("actual").objects("attempts")).hasSize(7);
    assertThat(reserved(run))
        .isEqualByComparingTo(
            reserved.add(
                new BigDecimal(again.object("estimate").object("reservation").text("total"))));
    assertThat(person.fails("rerun", "latest", "--failed"))
        .contains("no task of " + run.text("run_id") + " has failed, timed out or been lost");
    assertThat(workspace.resolve("runs/open").toFile().list()).isEmpty();
  }

  @Test
  void tasksWhoseCheckpointsAreArchivedDoNotBeginFromNothing() throws Exception {
    Path config =
        config(
            "train",
            "mkdir -p $NEXA_CHECKPOINTS/checkpoint-10; echo x > $NEXA_CHECKPOINTS/checkpoint-10/model; false",
            "");
    JsonObject run = person.submitAndWait(config.toString());
    String id = run.text("run_id");
    Path cold = Files.createDirectory(workspace.resolve("cold"));
    // A job that still completes keeps its run's files in their place.
    person.until("archived " + id + ": ", "archive", id, "--to", cold.toString(), "--yes");

    assertThat(person.fails("rerun", id, "--failed"))
        .contains(id + " cannot go on: its checkpoints are in the archive " + cold)
        .contains("nexa-slurm archive restore " + id)
        .contains("nexa-slurm rerun " + id);

    person.says("archive", "restore", id);
    assertThat(person.json("rerun", id, "--failed", "--wait", "--json").text("run_id"))
        .isEqualTo(id);
  }

  @Test
  void whatPythonCompiledOfTheFilesIsNoChangeAndDoesNotRunAgain() throws Exception {
    Files.writeString(workspace.resolve("helper.py"), "LIMIT = 3\n");
    Files.writeString(
        workspace.resolve("tr.py"),
        "import helper, os, sys\nsys.exit(0 if os.path.exists(sys.argv[1]) else 1)\n");
    Path config = workspace.resolve("python.yaml");
    Files.writeString(
        config,
        "stage: data\nbackend: python\nfiles: [helper.py]\n"
            + "entrypoint: {script: tr.py, config: false, args: ["
            + workspace.resolve("mended")
            + "]}\nresources: {cpus_per_task: 1, memory: 100M, time: 2m}\n");
    JsonObject run = person.submitAndWait(config.toString());
    Path bytecode = workspace.resolve("runs/" + run.text("run_id") + "/runner/__pycache__");
    assertThat(bytecode).as(person.logs(run)).isNotEmptyDirectory();
    assertThat(person.says("audit", run.text("run_id"))).contains("0 differences");
    Files.writeString(bytecode.resolve("planted.pyc"), "x");
    Files.createFile(workspace.resolve("mended"));

    person.json("rerun", "latest", "--failed", "--wait", "--json");

    assertThat(bytecode.resolve("planted.pyc")).doesNotExist();
    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
  }

  /** No pass has looked at the run since it ended. */
  @Test
  void rightAfterTheEndWhatFailedRunsAgainWithoutReconcile() throws Exception {
    Path config = config("train", "[[ -e %s/mended ]]", "array: {shards: 2}");
    JsonObject run = person.submit(config.toString());
    person.until("2 failed", "runs", "show", run.text("run_id"));
    Files.createFile(workspace.resolve("mended"));

    JsonObject again = person.json("rerun", "latest", "--failed", "--wait", "--json");

    assertThat(again.number("tasks")).isEqualTo(2);
    assertThat(person.manifest(run).text("status")).isEqualTo("completed");
  }

  @Test
  void aWholeRunAgainIsANewRunOfTheSameBytes() throws Exception {
    Path config = config("train", "true", "array: {shards: 2}");
    JsonObject first = person.submitAndWait(config.toString());
    Files.delete(config);

    JsonObject second = person.json("rerun", first.text("run_id"), "--wait", "--json");

    assertThat(second.text("run_id")).isNotEqualTo(first.text("run_id"));
    assertThat(person.manifest(second).text("status")).isEqualTo("completed");
    assertThat(Files.readAllBytes(Path.of(second.object("files").text("script"))))
        .isEqualTo(Files.readAllBytes(Path.of(first.object("files").text("script"))));
    assertThat(Files.readString(Path.of(second.object("files").text("plan"))))
        .contains("\"rerun_of\": \"" + first.text("run_id") + "\"");
    Path runner = Path.of(first.object("files").text("script")).resolveSibling("runner/run.sh");
    assertThat(runner.toFile().setWritable(true)).isTrue();
    Files.writeString(runner, "echo something else\n");
    assertThat(person.fails("rerun", first.text("run_id")))
        .contains("runner: a file in it is not what was submitted");
  }

  @Test
  void aRehearsedPreemptionEndsTheTaskAndItGoesOn() throws Exception {
    Path config =
        config(
            "train", "[[ $NEXA_RESTART == 1 ]] || { touch %s/began; sleep 100; }", "requeues: 1");
    JsonObject run = person.submit(config.toString());
    Person.await(workspace.resolve("began"));

    assertThat(person.says("interrupt", "latest")).contains("queued again: ");

    JsonObject manifest = person.requeued(run);
    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(manifest.number("attempts")).isEqualTo(2);
    assertThat(person.fails("interrupt", "latest"))
        .contains("has ended: completed; only a running task can be interrupted");

    String policy = Files.readString(Path.of("configs/policy.yaml"));
    Files.writeString(
        workspace.resolve("configs/policy.yaml"),
        policy.replace("max_requeues: 3", "max_requeues: 0"));
    assertThat(person.fails("rerun", "latest"))
        .contains("has requeues: 1, and the policy allows at most 0 (" + workspace);
  }

  @Test
  void oneTaskThatWaitsIsCancelledAndNoOther() throws Exception {
    person.slurmProfile("health_check: false\n");
    Path config =
        config(
            "train",
            "touch %1$s/began; until [[ -e %1$s/go ]]; do sleep 0.2; done",
            "array: {shards: 5, max_parallel: 1}");
    JsonObject run = person.submit(config.toString());
    Person.await(workspace.resolve("began"));
    long job = run.objects("jobs").get(0).number("job_id");

    assertThat(person.says("cancel", job + "_3")).contains("Cancelling task " + job + "_3.");

    assertThat(Person.command("squeue", "-r", "-h", "-j", "" + job, "-o", "%K").lines().sorted())
        .containsExactly("0", "1", "2", "4");
    assertThat(person.fails("cancel", job + "_5")).contains("job " + job + " has tasks 0 to 4");
    Files.createFile(workspace.resolve("go"));
    person.says("cancel", "latest");
    person.finish(run);
  }

  @Test
  void whatMayNotBeQueuedAgainIsNotInterrupted() throws Exception {
    JsonObject run = person.submit(config("train", "true", "").toString());

    assertThat(person.fails("interrupt", run.text("run_id")))
        .contains("may not be queued again: a preemption would end it");
    person.finish(run);
  }

  /** Three links of three tasks each on arrays of two: the second link ends the work. */
  @Test
  void aChainGoesOnUntilTheTaskHasEndedWell() throws Exception {
    person.slurmProfile("health_check: false\nslurm: {max_array_size: 2}\n");
    Path config =
        config(
            "train",
            "echo \"$NEXA_TASK\" >>%1$s/worked; tries=$(grep -c \"^$NEXA_TASK\" %1$s/worked);"
                + " echo \"try $tries of $NEXA_TASK\"; ((tries > NEXA_TASK))",
            "array: {shards: 3}\nchain: 3\n");

    JsonObject run = person.submitAndWait(config.toString());

    assertThat(run.objects("jobs")).hasSize(6);
    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
    // Task 0 is done with the first try, task 1 with the second, task 2 with the third.
    assertThat(Files.readAllLines(workspace.resolve("worked")))
        .containsExactlyInAnyOrder("0", "1", "1", "2", "2", "2");
    assertThat(person.logs(run))
        .contains("task 0 was finished by an earlier link of the chain")
        .contains("task 1 was finished by an earlier link of the chain");
    assertThat(person.manifest(run).number("attempts")).isEqualTo(9);
    assertThat(person.manifest(run).objects("submissions").get(2).text("dependency"))
        .isEqualTo("afterany:" + run.objects("jobs").get(0).number("job_id"));
    assertThat(run.object("estimate").number("attempts")).isEqualTo(3);
    assertThat(person.says("logs", "latest", "--task", "1")).contains("try 2 of 1");
    assertThat(person.fails("rerun", "latest", "--tasks", "1")).contains("its chain does nothing");
  }

  private Path config(String stage, String command, String more) throws IOException {
    return Files.writeString(
        workspace.resolve(stage + ".yaml"),
        """
        stage: %s
        backend: shell
        run: |
          %s
        resources: {cpus_per_task: 1, memory: 100M, time: 5m}
        %s
        """
            .formatted(stage, command.formatted(workspace), more));
  }

  private BigDecimal reserved(JsonObject run) {
    return new BigDecimal(person.cost(run).object("estimate").text("reservation"));
  }
}
