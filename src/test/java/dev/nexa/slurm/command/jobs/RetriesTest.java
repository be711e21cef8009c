package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Which failures are tried again, what is recorded of them, and what ends a task that is stuck. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class RetriesTest {
  /** How each task of {@link #EACH_WAY} ends at first; the ways that retry_on names go on. */
  private static final List<String> WAYS =
      List.of("signal 9", "signal 11", "exit 75", "exit 1", "cuda 1", "oom 1", "exit 0");

  private static final String EACH_WAY =
      """
      stage: train
      backend: shell
      requeues: 2
      retry_on: [signal, cuda, 75]
      array: {shards: 7}
      run: |
        echo "attempt $NEXA_RESTART of $NEXA_TASK"
        if [[ $NEXA_RESTART != 0 ]]; then exit 0; fi
        case $NEXA_TASK in
          0) kill -9 $$ ;;
          1) kill -11 $$ ;;
          2) exit 75 ;;
          3) echo "KeyError: 'labels'" && exit 1 ;;
          4) echo 'RuntimeError: CUDA error: an illegal memory access was encountered' && exit 1 ;;
          5) echo 'torch.cuda.OutOfMemoryError: CUDA out of memory.' && exit 1 ;;
        esac
      resources: {cpus_per_task: 1, memory: 100M, time: 2m}
      """;

  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() {
    person = new Person(workspace);
  }

  @Test
  void whatRetryOnNamesIsTriedAgainWithoutSlurm() throws IOException {
    JsonObject run = person.submitAndWait(write("ways", EACH_WAY), "--local");

    assertFailures(run);
    assertThat(person.manifest(run).object("tasks").object("states").number("completed"))
        .isEqualTo(5);
    assertThat(person.manifest(run).number("attempts")).isEqualTo(7 + 4);
    assertThat(person.logs(run)).contains("attempt 1 of 0").doesNotContain("attempt 1 of 3");
  }

  @Test
  @Tag("slurm")
  void whatRetryOnNamesIsQueuedAgain() throws Exception {
    person.slurmProfile("health_check: false\n");

    JsonObject run = person.submit(write("ways", EACH_WAY));
    for (int task = 0; task < 7; task++) {
      Person.await(Person.result(run, task + ".0.json"));
    }
    Thread.sleep(3000); // Slurm requeues once the script has ended.

    assertFailures(run);
    long job = run.objects("jobs").get(0).number("job_id");
    List<String> queued =
        Person.command("squeue", "-h", "-r", "-o", "%i", "-j", "" + job).lines().sorted().toList();
    assertThat(queued).containsExactly(job + "_0", job + "_1", job + "_2", job + "_4");
    person.says("cancel", run.text("run_id"));
  }

  private static final String GROWS =
      """
      stage: train
      backend: shell
      requeues: 2
      grow: {memory: {up_to: 300M}}
      retry_on: [75]
      array: {shards: 5}
      run: |
        case $NEXA_TASK in
          0) echo 'slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch.' && kill -9 $$ ;;
          1) exit 75 ;;
          2) kill -9 $$ ;;
          3) echo 'torch.cuda.OutOfMemoryError: CUDA out of memory.' && exit 1 ;;
          4) sleep 600 ;;
        esac
      resources: {cpus_per_task: 1, memory: 100M, time: 2m}
      """;

  /** Task 4 is preempted; its own memory and that of each other task stay. */
  @Test
  @Tag("slurm")
  void onlyATaskThatHadNoMemoryLeftGetsMore() throws Exception {
    person.slurmProfile("health_check: false\n");

    JsonObject run = person.submit(write("grows", GROWS));
    for (int task = 0; task < 4; task++) {
      Person.await(Person.result(run, task + ".0.json"));
    }
    person.until("running", "status", run.text("run_id"));
    person.says("interrupt", run.text("run_id"));
    person.until("the next attempt has MinMemoryNode=200", "logs", run.text("run_id"));
    Thread.sleep(3000);

    long job = run.objects("jobs").get(0).number("job_id");
    List<String> queued =
        Person.command("squeue", "-h", "-r", "-o", "%i %m %l", "-j", "" + job)
            .lines()
            .sorted()
            .toList();
    assertThat(queued)
        .containsExactly(job + "_0 200M 2:00", job + "_1 100M 2:00", job + "_4 100M 2:00");
    assertThat(person.logs(run)).contains("not tried again: retry_on names neither oom nor 1");
    person.says("cancel", run.text("run_id"));
  }

  @Test
  @Tag("slurm")
  void whatSlurmQueuedAgainFirstIsLeft() throws Exception {
    person.slurmProfile("health_check: false\n");
    Path first = Files.createDirectory(workspace.resolve("first")).resolve("scontrol");
    String real = Person.command("sh", "-c", "command -v scontrol").strip();
    Files.writeString(
        first,
        "#!/bin/sh\ncase $* in requeue*_0) %1$s \"$@\" ;; esac\nexec %1$s \"$@\"\n"
            .formatted(real));
    assertThat(first.toFile().setExecutable(true)).isTrue();
    String path = first.getParent() + ":" + System.getenv("PATH");
    Person late = new Person(workspace, Map.of("PATH", path));
    JsonObject run =
        person.submit(
            write(
                "two",
                """
                stage: train
                backend: shell
                requeues: 1
                array: {shards: 2}
                run: touch "%s/began.$NEXA_TASK"; sleep 300
                resources: {cpus_per_task: 1, memory: 100M, time: 6m}
                """
                    .formatted(workspace)));
    Person.await(workspace.resolve("began.0"));
    Person.await(workspace.resolve("began.1"));

    String said = late.says("interrupt", run.text("run_id"));

    String job = "" + run.objects("jobs").get(0).number("job_id");
    assertThat(said).contains("queued again: " + job + "_1\n");
    person.says("cancel", run.text("run_id"));
  }

  @Test
  @Tag("slurm")
  void aTaskThatRunsOutOfTimeGetsMore() throws Exception {
    person.slurmProfile("health_check: false\n");

    JsonObject run =
        person.submit(
            write(
                "longer",
                """
                stage: train
                backend: shell
                requeues: 1
                grow: {time: {by: 3, up_to: 5m}}
                warn_before_end: 90s
                run: sleep 600
                resources: {cpus_per_task: 1, memory: 100M, time: 2m}
                """));
    person.until("the next attempt has TimeLimit=5", "logs", run.text("run_id"));
    Thread.sleep(3000);

    long job = run.objects("jobs").get(0).number("job_id");
    assertThat(Person.command("squeue", "-h", "-r", "-o", "%i %m %l", "-j", "" + job).strip())
        .isEqualTo(job + " 100M 5:00");
    person.says("cancel", run.text("run_id"));
  }

  @Test
  @Tag("slurm")
  void theNextEstimateBeginsWithTheMemoryThatWasEnough() throws Exception {
    person.slurmProfile("health_check: false\n");
    String config =
        write(
            "learns",
            """
            stage: train
            backend: shell
            requeues: 1
            grow: {memory: {up_to: 300M}}
            run: |
              ((NEXA_RESTART > 0)) && exit
              echo 'slurmstepd-n1: error: Detected 1 oom_kill event in StepId=7.batch.'
              kill -9 $$
            resources: {cpus_per_task: 1, memory: 100M, time: 2m}
            """);
    assertThat(person.says("estimate", config)).contains("100 MiB", "up to 200 MiB on a node");

    JsonObject run = person.submit(config);
    assertThat(person.requeued(run).text("state")).as(person.logs(run)).isEqualTo("completed");

    String note = "grow: it begins with resources.memory: 200 MiB, because " + run.text("run_id");
    assertThat(person.says("estimate", config))
        .contains("1 CPU and 200 MiB", "up to 300 MiB on a node");
    assertThat(String.join("\n", person.json("estimate", config, "--json").texts("notes")))
        .contains(note);
    assertThat(person.says("render", config)).contains("#SBATCH --mem=200M");
    // Another name is another kind of run.
    assertThat(person.says("render", config, "--set", "name=other")).contains("--mem=100M");
    assertThat(person.says("render", config, "--set", "resources.memory=250M"))
        .contains("--mem=250M");
  }

  private void assertFailures(JsonObject run) throws IOException {
    for (int task = 0; task < WAYS.size(); task++) {
      String[] way = WAYS.get(task).split(" ", -1);
      JsonObject result = Json.parseObject(DurableFiles.read(Person.result(run, task + ".0.json")));
      boolean bySignal = way[0].equals("signal");
      long code = Long.parseLong(way[1]);
      assertThat(result.number("exit_code"))
          .as(WAYS.get(task))
          .isEqualTo(bySignal ? 128 + code : code);
      if (code == 0) {
        assertThat(result.optionalObject("failure")).isEmpty();
      } else {
        assertThat(result.object("failure").text("class")).isEqualTo(way[0]);
        assertThat(result.object("failure").number("signal")).isEqualTo(bySignal ? code : 0);
      }
    }
    person.says("reconcile");
    List<JsonObject> failures = person.manifest(run).objects("failures");
    assertThat(failures).hasSize(6);
    assertThat(failures.get(0).text("class")).isEqualTo("signal");
    assertThat(failures.get(5).text("text"))
        .isEqualTo("torch.cuda.OutOfMemoryError: CUDA out of memory.");
  }

  /** The last attempt that requeues allows is the last, and the estimate counted each. */
  @Test
  void noMoreAttemptsAreMadeThanTheEstimateCounted() throws IOException {
    String config =
        write(
            "always",
            """
            stage: train
            backend: shell
            requeues: 2
            run: kill -9 $$
            resources: {cpus_per_task: 1, memory: 100M, time: 2m}
            """);

    JsonObject run = person.submitAndWait(config, "--local");

    assertThat(run.object("estimate").number("attempts")).isEqualTo(3);
    assertThat(person.manifest(run).number("attempts")).isEqualTo(3);
    assertThat(person.manifest(run).text("status")).isEqualTo("failed");
    assertThat(person.manifest(run).objects("failures")).hasSize(3);
    // Accounting has whole seconds: two attempts of one second would be one row.
    Path events = workspace.resolve(".nexa-local/jobs/1/events.jsonl");
    assertThat(DurableFiles.read(events).lines().filter(line -> line.contains("START")).toList())
        .hasSize(3)
        .doesNotHaveDuplicates();
  }

  private static final String STUCK =
      """
      stage: train
      backend: shell
      requeues: 1
      retry_on: [stall]
      watchdog: 1m
      run: |
        if [[ $NEXA_RESTART != 0 ]]; then echo "goes on" && exit 0; fi
        for i in {1..8}; do sleep 0.5; echo "step $i"; done
        trap '' TERM
        echo "stuck"
        while true; do sleep 100; done
      resources: {cpus_per_task: 1, memory: 100M, time: 2m}
      """;

  /** The shortest watchdog is a minute: dev/full retries. */
  @Test
  @EnabledIfSystemProperty(named = "full", matches = ".*")
  void aTaskThatIsStuckIsEndedAndTriedAgainWithoutSlurm() throws IOException {
    JsonObject run =
        person.submitAndWait(write("stuck", STUCK.replace("trap '' TERM\n", "\n")), "--local");

    assertThat(person.logs(run)).contains("step 8", "the watchdog ends the task", "goes on");
    JsonObject failure = person.manifest(run).objects("failures").get(0);
    assertThat(failure.text("class")).isEqualTo("stall");
    assertThat(failure.number("exit_code")).isEqualTo(124);
    assertThat(person.manifest(run).text("status")).isEqualTo("completed");
  }

  @Test
  @Tag("slurm")
  @EnabledIfSystemProperty(named = "full", matches = ".*")
  void aTaskThatIsStuckAndHearsNoSignalIsKilledOnSlurm() throws Exception {
    person.slurmProfile("health_check: false\n");

    JsonObject run = person.submit(write("stuck", STUCK));
    Path result = Person.result(run, "0.0.json");
    Thread.sleep(Duration.ofSeconds(70).toMillis());
    Person.await(result);

    JsonObject failure = Json.parseObject(DurableFiles.read(result)).object("failure");
    assertThat(failure.text("class")).isEqualTo("stall");
    assertThat(failure.number("exit_code")).isEqualTo(124);
    JsonObject recorded = Json.parseObject(DurableFiles.read(result));
    assertThat(recorded.number("ended") - recorded.number("started")).isBetween(60L, 130L);
    person.until("queued again: class stall, status 124", "logs", run.text("run_id"));
    person.says("cancel", run.text("run_id"));
  }

  private static final String RANKS =
      """
      import os, sys, time
      import torch, torch.distributed as dist
      print("rank", os.environ["RANK"], "is", os.environ["WANDB_NAME"], end=" ")
      print("in", os.environ["WANDB_RUN_GROUP"], os.environ["WANDB_RESUME"])
      dist.init_process_group("gloo")
      one = torch.ones(1)
      dist.all_reduce(one)
      if os.environ["RANK"] == "3":
          time.sleep(1)
          print("rank 3 dies now")
          os.kill(os.getpid(), 9)
      while True:
          dist.all_reduce(one)
          time.sleep(0.01)
      """;

  @Test
  @Tag("slurm")
  void ofFourRanksOnTwoNodesTheOneThatWasKilledIsTheCause() throws Exception {
    person.slurmProfile("accelerator: cpu\nhealth_check: false\nenv: {PATH: '/usr/bin:/bin'}\n");
    Files.writeString(workspace.resolve("ranks.py"), RANKS);

    JsonObject run =
        person.submit(
            write(
                "ranks",
                """
                stage: train
                backend: python
                requeues: 1
                entrypoint: {script: ranks.py, config: false}
                resources: {nodes: 2, gpus_per_node: 2, cpus_per_task: 2, memory: 1G, time: 4m}
                """));
    Path result = Person.result(run, "0.0.json");
    Person.await(result);

    JsonObject failure = Json.parseObject(DurableFiles.read(result)).object("failure");
    assertThat(failure.text("class")).as(person.logs(run)).isEqualTo("signal");
    assertThat(failure.number("signal")).isEqualTo(9);
    assertThat(failure.number("rank")).isEqualTo(3);
    assertThat(failure.text("node")).matches("n[1-4]");
    person.until("queued again: class signal, status 137", "logs", run.text("run_id"));
    for (int rank = 0; rank < 4; rank++) {
      String log = person.says("logs", "--rank", "" + rank, run.text("run_id"));
      String id = run.text("run_id");
      assertThat(log)
          .contains("rank " + rank + " is " + id + "_rank_" + rank + " in " + id + " allow\n");
    }
    assertThat(person.logs(run)).contains("rank 0 is ").contains("rank 3 dies now");
    person.says("cancel", run.text("run_id"));
  }

  private String write(String name, String text) throws IOException {
    return Files.writeString(workspace.resolve(name + ".yaml"), text).toString();
  }
}
