package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
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

/** Failures that the real Slurm, torchrun and Python make. */
@Tag("long")
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class WhyOnSlurmTest {
  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("accelerator: cpu\nhealth_check: false\n");
  }

  private JsonObject failed(String config) throws Exception {
    Path file = Files.writeString(workspace.resolve("run.yaml"), config);
    JsonObject run = person.submit(file.toString());
    assertThat(person.finish(run).text("status")).isEqualTo("failed");
    return person.json("why", run.text("run_id"), "--json");
  }

  /** Rank 1 fails; rank 0 and the ranks of the other node only lose it. */
  @Test
  void theRankThatFailedFirstIsNamed() throws Exception {
    Files.writeString(
        workspace.resolve("ddp.py"),
        """
        import torch, torch.distributed as dist
        dist.init_process_group("gloo")
        x = torch.ones(1)
        dist.all_reduce(x)
        if dist.get_rank() == 1:
            raise ValueError("the labels of batch 7 do not fit")
        dist.all_reduce(x)
        """);

    JsonObject why =
        failed(
            """
            stage: train
            backend: python
            entrypoint: {script: ddp.py}
            resources: {nodes: 2, gpus_per_node: 2, gpu_type: h100, cpus_per_task: 2, memory: 1G, time: 5m}
            """);

    JsonObject failure = why.object("failure");
    assertThat(why.text("headline"))
        .isEqualTo(
            "The program ended with an exception: ValueError: the labels of batch 7 do not fit");
    assertThat(failure.number("rank")).isEqualTo(1);
    assertThat(failure.object("cause").text("file")).endsWith("ranks/rank_1.log");
    assertThat(failure.object("slurm").text("state")).isEqualTo("FAILED");
    assertThat(failure.objects("followed")).isNotEmpty();
  }

  @Test
  void ofAnArrayTheFirstTaskAndTheOthersAreCounted() throws Exception {
    JsonObject why =
        failed(
            """
            stage: eval
            backend: shell
            run: |
              [[ $NEXA_TASK == 1 ]] || { sleep 2; [[ $NEXA_TASK == 0 ]]; exit; }
              exec /no/such/program
            array: {shards: 3}
            resources: {cpus_per_task: 1, memory: 50M, time: 2m}
            """);

    JsonObject failure = why.object("failure");
    assertThat(failure.number("task")).isEqualTo(1);
    assertThat(failure.number("tasks_failed")).isEqualTo(2);
    assertThat(failure.object("cause").text("class")).isEqualTo("missing-file");
    assertThat(failure.object("slurm").text("exit_code")).isEqualTo("127:0");
  }

  @Test
  void aCancelIsNoFailureOfTheProgram() throws Exception {
    Path file =
        Files.writeString(
            workspace.resolve("run.yaml"),
            "stage: eval\nbackend: shell\nrun: echo begun; sleep 100\n"
                + "resources: {cpus_per_task: 1, memory: 50M, time: 2m}\n");
    JsonObject run = person.submit(file.toString());
    person.until("begun", "logs", run.text("run_id"));
    person.says("cancel", run.text("run_id"));
    person.finish(run);

    JsonObject cause =
        person.json("why", run.text("run_id"), "--json").object("failure").object("cause");
    assertThat(cause.text("class")).isEqualTo("cancelled");
  }
}
