package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.PrivateSlurm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A full partition beside an empty one, on a Slurm of its own. */
@Tag("slurm")
class WhyItWaitsTest {
  private static PrivateSlurm slurm;
  private static Path workspace;
  private static Person person;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    slurm =
        PrivateSlurm.prepare(
            new PrivateSlurm.Layout(
                Map.of("p1", "", "p2", ""),
                """
                SelectTypeParameters=CR_CPU_Memory
                NodeName=p1 AT CPUs=4 RealMemory=64000
                NodeName=p2 AT CPUs=4 RealMemory=64000
                PartitionName=busy Default=YES Nodes=p1 MaxTime=1-00:00:00
                PartitionName=idle Nodes=p2 MaxTime=1-00:00:00
                """));
    slurm.letAllThrough();
    slurm.start();
    person = slurm.person();
    workspace = slurm.workspace();
    Files.writeString(
        workspace.resolve("run.yaml"),
        "stage: data\nbackend: shell\nrun: sleep 300\n"
            + "resources: {cpus_per_task: 4, memory: 50M, time: 1h, partition: busy}\n");
  }

  @AfterAll
  static void tidyUp() throws Exception {
    if (slurm != null) {
      slurm.close();
    }
  }

  @Test
  void theReasonThePlaceTheStartAndWhatWouldStartSooner() throws Exception {
    String config = workspace.resolve("run.yaml").toString();
    JsonObject first = person.json("submit", config, "--json");
    person.until("running", "status", first.text("run_id"));
    JsonObject second = person.json("submit", config, "--json");
    JsonObject third = person.json("submit", config, "--json");
    person.until("\"reason\": \"Priority\"", "why", third.text("run_id"), "--json");

    JsonObject waiting = person.json("why", third.text("run_id"), "--json").object("waiting");

    assertThat(waiting.text("partition")).isEqualTo("busy");
    assertThat(waiting.number("jobs_ahead")).isEqualTo(1);
    assertThat(waiting.objects("sooner").get(0).text("option"))
        .isEqualTo("--set resources.partition=idle");
    assertThat(person.says("why", third.text("run_id")))
        .startsWith(third.text("run_id") + ": other jobs are ahead in the queue\n")
        .contains("place        1 job before it, partition busy")
        .contains("sooner       --set resources.partition=idle: ")
        .contains("nexa-slurm submit " + config + " --set resources.partition=idle\n")
        .contains("first        nexa-slurm cancel " + third.text("run_id") + "\n")
        .doesNotContain("&&");
    assertThat(
            person
                .json("why", second.text("run_id"), "--json")
                .object("waiting")
                .number("jobs_ahead"))
        .isZero();
    for (JsonObject run : List.of(third, second, first)) {
      person.says("cancel", run.text("run_id"));
    }
  }
}
