package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.PrivateSlurm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A Slurm that forgets a job two seconds after its end. A job that waits for a forgotten job starts
 * at once there, whatever became of the forgotten job.
 */
@Tag("slurm")
class ForgottenJobsOnSlurmTest {
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
                MinJobAge=2
                SelectTypeParameters=CR_CPU_Memory
                NodeName=p1 AT CPUs=16 RealMemory=64000
                PartitionName=cpu Default=YES Nodes=p1 MaxTime=1-00:00:00
                """));
    slurm.letAllThrough();
    slurm.start();
    person = slurm.person();
    workspace = slurm.workspace();
    for (String stage : List.of("train", "eval")) {
      Files.writeString(
          workspace.resolve(stage + ".yaml"),
          """
          stage: %1$s
          backend: shell
          run: |
            echo %1$s >>%2$s/worked
            [[ %1$s != train || -e %2$s/mended ]]
          resources: {memory: 50M, time: 5m}
          """
              .formatted(stage, workspace));
    }
    Files.writeString(
        workspace.resolve("pipeline.yaml"),
        """
        stages:
          train: {config: train.yaml}
          eval: {config: eval.yaml, after: [train]}
        """);
  }

  @AfterAll
  static void tidyUp() throws Exception {
    if (slurm != null) {
      slurm.close();
    }
  }

  @Test
  void aStageNeverWorksOnWhatAForgottenJobDidNotFinish() throws Exception {
    assertThat(slurm.root("scontrol", "update", "PartitionName=cpu", "State=DOWN").exit()).isZero();
    JsonObject begun =
        person.json("pipeline", "run", workspace.resolve("pipeline.yaml").toString(), "--json");
    String id = begun.text("pipeline_id");
    String train = job(begun, 0);
    String eval = job(begun, 1);
    assertThat(slurm.root("scontrol", "hold", eval).exit()).isZero();
    assertThat(slurm.root("scontrol", "update", "PartitionName=cpu", "State=UP").exit()).isZero();
    for (int i = 0; slurm.root("scontrol", "show", "job", train).exit() == 0; i++) {
      assertThat(i).as("slurmctld still knows the job").isLessThan(600);
      Thread.sleep(200);
    }

    assertThat(slurm.root("scontrol", "release", eval).exit()).isZero();
    Thread.sleep(8000);
    assertThat(worked()).containsExactly("train");

    Files.createFile(workspace.resolve("mended"));
    awaitState(id, "failed", "blocked");
    person.says("pipeline", "resume", id);
    awaitState(id, "completed");
    assertThat(worked()).containsExactly("train", "train", "eval");
  }

  private static List<String> worked() throws IOException {
    return Files.readAllLines(workspace.resolve("worked"));
  }

  private static void awaitState(String id, String... states) throws Exception {
    String last = "";
    for (int i = 0; i < 150; i++) {
      person.says("reconcile");
      last = person.json("pipeline", "status", id, "--json").text("state");
      if (List.of(states).contains(last)) {
        return;
      }
      Thread.sleep(400);
    }
    throw new AssertionError(id + " is " + last + ": " + person.says("pipeline", "status", id));
  }

  private static String job(JsonObject pipeline, int stage) throws IOException {
    String run = pipeline.objects("stages").get(stage).text("run_id");
    return Json.parseObject(Files.readString(workspace.resolve("runs/manifests/" + run + ".json")))
            .objects("submissions")
            .get(0)
            .number("job_id")
        + "";
  }
}
