package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.PrivateSlurm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A Slurm whose accounting lets a user have two jobs in the queue, and a pipeline of three. */
@Tag("slurm")
@Tag("full")
class QueueLimitOnSlurmTest {
  private static final List<String> STAGES = List.of("one", "two", "three");
  private static PrivateSlurm slurm;
  private static Path workspace;
  private static Person person;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    slurm =
        PrivateSlurm.prepare(
            new PrivateSlurm.Layout(
                Map.of("p1", ""),
                """
                SelectTypeParameters=CR_CPU_Memory
                NodeName=p1 AT CPUs=16 RealMemory=64000
                PartitionName=cpu Default=YES Nodes=p1 MaxTime=1-00:00:00
                """));
    slurm.letAllThrough();
    slurm.withAccounting("MaxSubmitJobs=2");
    slurm.start();
    person = slurm.person();
    workspace = slurm.workspace();
    for (String stage : STAGES) {
      Files.writeString(
          workspace.resolve(stage + ".yaml"),
          """
          stage: %1$s
          backend: shell
          run: echo %1$s >>%2$s/worked
          resources: {memory: 50M, time: 5m}
          """
              .formatted(stage, workspace));
    }
    Files.writeString(
        workspace.resolve("pipeline.yaml"),
        """
        stages:
          one: {config: one.yaml}
          two: {config: two.yaml, after: [one]}
          three: {config: three.yaml, after: [two]}
        """);
  }

  @AfterAll
  static void tidyUp() throws Exception {
    if (slurm != null) {
      slurm.close();
    }
  }

  @Test
  void aStageOverTheUsersLimitWaitsAndOnePassSubmitsItWhenThereIsRoom() throws Exception {
    partition("DOWN");
    String printed = person.says("pipeline", "run", workspace.resolve("pipeline.yaml").toString());

    assertThat(printed).contains("waits for room in the queue", "AssocMaxSubmitJobLimit");
    JsonObject pipeline = person.json("pipeline", "status", "--json");
    String id = pipeline.text("pipeline_id");
    assertThat(pipeline.objects("stages"))
        .extracting(stage -> stage.text("state"))
        .containsExactly("pending", "pending", "pending");
    JsonObject third = pipeline.objects("stages").get(2);
    assertThat(third.text("why")).isEqualTo("not submitted yet");
    assertThat(person.says("pipeline", "status", id)).contains("not submitted yet");
    person.says("reconcile");
    assertThat(jobs()).as("there is no room yet").hasSize(2);

    partition("UP");
    for (int i = 0; slurm.root("squeue", "-h", "-t", "PD,R,CG").out().lines().count() > 1; i++) {
      assertThat(i).as("the first stage does not end").isLessThan(600);
      Thread.sleep(200);
    }
    person.says("reconcile");

    assertThat(jobs()).hasSize(3);
    for (int i = 0;
        !person.json("pipeline", "status", id, "--json").text("state").equals("completed");
        i++) {
      assertThat(i).as(person.says("pipeline", "status", id)).isLessThan(300);
      Thread.sleep(400);
      person.says("reconcile");
    }
    assertThat(Files.readAllLines(workspace.resolve("worked"))).isEqualTo(STAGES);
    assertThat(jobs()).as("one job for each stage").hasSize(3).doesNotHaveDuplicates();
    assertThat(person.says("audit")).contains(" 0 differences");
  }

  private static void partition(String state) throws IOException {
    assertThat(slurm.root("scontrol", "update", "PartitionName=cpu", "State=" + state).exit())
        .isZero();
  }

  /** Returns the names of all jobs that slurmctld has seen. */
  private static List<String> jobs() throws IOException {
    List<String> names = new ArrayList<>();
    for (String line : slurm.root("scontrol", "-o", "show", "jobs").out().lines().toList()) {
      names.add(line.replaceFirst(".*JobName=", "").replaceFirst(" .*", ""));
    }
    return names;
  }
}
