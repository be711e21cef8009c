package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.SlurmDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Heterogeneous jobs: what Slurm does with a config's groups, and what is told of it. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class GroupsOnSlurmTest {
  private static final String TWO =
      """
      stage: train
      %s
      env: {COMMON: both}
      groups:
        trainer:
          resources: {gpus_per_node: 0, cpus_per_task: 2, memory: 200M, time: 3m}
          env: {ONLY: first, COMMON: "both, first"}
          run: |
            %s
        servers:
          resources: {nodes: 2, gpus_per_node: 1, gpu_type: h100, cpus_per_task: 3, memory: 300M, time: 4m}
          env: {ROLE: server}
          run: |
            %s
      """;

  private static final String UNTIL_READY =
      "until [[ -e $NEXA_RUN_DIR/ready.0 && -e $NEXA_RUN_DIR/ready.1 ]]; do sleep 0.2; done;";

  private static final String SERVE = "touch $NEXA_RUN_DIR/ready.$SLURM_NODEID; sleep 300";

  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("health_check: false\n");
  }

  private JsonObject submit(String keys, String first, String second) throws IOException {
    Path config = workspace.resolve("two.yaml");
    Files.writeString(config, TWO.formatted(keys, first, second));
    return person.submit(config.toString());
  }

  private static String log(JsonObject run, int task) throws IOException {
    long job = run.objects("jobs").get(0).number("job_id");
    return Files.readString(Person.folder(run).resolve("logs/" + job + "_" + task + ".out"));
  }

  @Test
  void theFirstGroupsEndEndsTheJobAndTheBillIsTheDatabases() throws Exception {
    String first = UNTIL_READY + " echo \"$COMMON, servers on $NEXA_SERVERS_HOSTS\"";
    String second =
        "echo \"$ROLE $COMMON${ONLY:-} $NEXA_GROUP $NEXA_TASK of $NEXA_TASKS, $WANDB_NAME $CUDA_VISIBLE_DEVICES\";"
            + " "
            + SERVE;
    JsonObject run = submit("name: pair", first, second);

    JsonObject manifest = person.finish(run);

    assertThat(manifest.text("state")).as(person.logs(run)).isEqualTo("completed");
    assertThat(manifest.text("hardware")).isEqualTo("2 CPUs + 2x h100");
    assertThat(log(run, 0)).containsPattern("both, first, servers on n\\d n\\d\n");
    assertThat(log(run, 1))
        .containsPattern("(?s)(server both servers 1 of 2, \\w+_task_1 \\d+\n.*){2}");
    assertThat(person.says("logs", run.text("run_id"))).contains("[trainer] ", "[servers] ");
    assertThat(person.fails("logs", "--group", "trainer", "--task", "1", run.text("run_id")))
        .contains("--group trainer names one task already");
    assertThat(person.says("logs", "--group", "trainer", run.text("run_id")))
        .isEqualTo(log(run, 0));
    long[] held = held(run.objects("jobs").get(0).number("job_id"), 2);
    JsonObject actual = person.cost(run).object("actual");
    assertThat(actual.text("cpu_hours")).isEqualTo(SlurmDatabase.hours(held[0]));
    assertThat(actual.text("gpu_hours")).isEqualTo(SlurmDatabase.hours(held[1]));
    assertThat(person.says("audit", run.text("run_id"))).contains("0 differences");
    // Both groups for their time limits, 90 s over: 2 CPUs 270 s, and 2 nodes 330 s.
    JsonObject estimate = run.object("estimate");
    assertThat(estimate.text("gpu_hours")).isEqualTo(SlurmDatabase.hours(2 * 330));
    assertThat(estimate.text("cpu_hours")).isEqualTo(SlurmDatabase.hours(2 * 270 + 2 * 3 * 330));
  }

  @Test
  void aGroupThatFailsEndsTheJobAllAreQueuedAgainAndWhyNamesIt() throws Exception {
    String second =
        "[[ $SLURM_NODEID == 1 ]] || sleep 300; sleep 2;"
            + " echo 'RuntimeError: CUDA error: an illegal memory access was encountered'; exit 7";
    JsonObject run = submit("requeues: 1\nretry_on: [cuda]", "echo begun; sleep 300", second);

    Person.await(Person.result(run, "0.0.json"));
    long job = run.objects("jobs").get(0).number("job_id");
    for (int i = 0; i < 300 && !Files.exists(Person.result(run, "0.1.json")); i++) {
      if (Person.state("" + job).contains("PENDING")) {
        Thread.sleep(2000); // let go in the second of its requeue, its old credential kills it
        Person.command("scontrol", "update", "JobId=" + job, "StartTime=now");
      }
      Thread.sleep(500);
    }
    JsonObject manifest = person.finish(run);

    assertThat(manifest.text("state")).as(person.logs(run)).isEqualTo("failed");
    assertThat(log(run, 0).split("begun", -1)).hasSize(3);
    assertThat(log(run, 1).split("CUDA error", -1)).hasSize(3);
    JsonObject why = person.json("why", run.text("run_id"), "--json").object("failure");
    assertThat(why.text("group")).isEqualTo("servers");
    assertThat(why.number("task")).isEqualTo(1);
    assertThat(why.number("attempt")).isEqualTo(2);
    List<JsonObject> attempts = person.cost(run).object("actual").objects("attempts");
    assertThat(attempts).hasSize(4);
    long[] held = held(job, 4);
    assertThat(person.cost(run).object("actual").text("cpu_hours"))
        .isEqualTo(SlurmDatabase.hours(held[0]));
  }

  @Test
  void allGroupsEndAndStartTogether() throws Exception {
    JsonObject run = submit("", UNTIL_READY + " sleep 300", SERVE);
    String id = run.text("run_id");
    Person.await(Person.folder(run).resolve("ready.1"));
    person.says("reconcile");
    assertThat(person.says("status", id)).contains("running");
    assertThat(person.fails("cancel", "--task", "1", id))
        .contains("ends the groups of a job together");

    person.says("cancel", id, "--yes");
    assertThat(person.finish(run).text("state")).isEqualTo("cancelled");

    Files.delete(Person.folder(run).resolve("ready.0"));
    Files.delete(Person.folder(run).resolve("ready.1"));
    JsonObject again = person.json("rerun", id, "--tasks", "1", "--json");
    assertThat(again.number("tasks")).isEqualTo(2);
    Person.await(Person.folder(run).resolve("ready.1"));
    person.says("cancel", id, "--yes");
    person.finish(run);
  }

  /** A script of two components does as at sbatch, with the sizes that it has there. */
  @Test
  void aScriptWithHetjobDoesWhatItDoesAtSbatch() throws Exception {
    Path script = workspace.resolve("pair.sh");
    Files.writeString(
        script,
        """
        #!/bin/bash
        #SBATCH --cpus-per-task=2 --mem=200M --time=5 --output=%s/out-%%j
        #SBATCH hetjob
        #SBATCH -N2 --gpus-per-node=h100:2 --cpus-per-task=4 --mem=300M --time=4
        echo "first of $SLURM_HET_SIZE"
        srun --het-group=1 bash -c 'echo "second ${#CUDA_VISIBLE_DEVICES}"'
        srun --het-group=0,1 bash -c 'echo both' | sort
        """
            .formatted(workspace));
    long theirs = Long.parseLong(Person.command("sbatch", "--parsable", script.toString()).strip());
    JsonObject run = person.submit(script.toString());
    long ours = run.objects("jobs").get(0).number("job_id");
    person.finish(run);
    for (int i = 0;
        i < 120 && !Person.state("" + theirs).matches("|COMPLETED(\nCOMPLETED)?");
        i++) {
      Thread.sleep(500);
    }

    String printed = printed(theirs);
    assertThat(printed).isEqualTo("first of 2\nsecond 3\nsecond 3\nboth\nboth\nboth\n");
    assertThat(printed(ours)).endsWith(printed);
    assertThat(sizes(ours)).isEqualTo(sizes(theirs)).hasLineCount(2);
  }

  /** Without what Slurm says where a step waits for the one before it. */
  private String printed(long job) throws IOException {
    return Files.readString(workspace.resolve("out-" + job))
        .replaceAll("(?m)^srun: (Job|Step created for job) \\d+( step creation .*)?\n", "");
  }

  private static String sizes(long job) throws IOException {
    return Person.command(
        "sacct",
        "-X",
        "-n",
        "-P",
        "-j",
        "" + job,
        "-o",
        "ReqTRES,AllocTRES,Timelimit,NNodes,State");
  }

  @Test
  void theCookbooksTrainerWaitsForItsServer() throws Exception {
    JsonObject run =
        person.submit(
            Path.of("configs/cookbook/12-trainer-and-servers.yaml").toAbsolutePath().toString());

    assertThat(person.finish(run).text("state")).as(person.logs(run)).isEqualTo("completed");
    assertThat(log(run, 0)).contains("the server answers: 200");
  }

  /** CPU-seconds and GPU-seconds of all rows of a heterogeneous job. */
  private static long[] held(long job, int rows) throws IOException {
    String gpu = SlurmDatabase.gpu();
    List<String> found =
        SlurmDatabase.sql(
                "select time_start, time_end, tres_alloc from nexa_job_table where het_job_id="
                    + job)
            .lines()
            .toList();
    assertThat(found).hasSize(rows);
    long[] held = {0, 0};
    for (String row : found) {
      String[] cell = row.split("\t", -1);
      long seconds = Long.parseLong(cell[1]) - Long.parseLong(cell[0]);
      held[0] += seconds * SlurmDatabase.count(cell[2], SlurmDatabase.CPU);
      held[1] += seconds * SlurmDatabase.count(cell[2], gpu);
    }
    return held;
  }
}
