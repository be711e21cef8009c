package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

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

/** Jobs on the real Slurm: one runs, one was killed so that it could not tidy up. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class CleanupOnSlurmTest {
  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("health_check: false\naccelerator: cpu\n");
  }

  private JsonObject started(Path config) throws Exception {
    JsonObject run = person.submit(config.toString());
    Person.await(scratch(run).resolve("task_0/left"));
    return run;
  }

  private Path scratch(JsonObject run) {
    return workspace.resolve("scratch").resolve(run.text("run_id"));
  }

  @Test
  void whatAKilledJobLeftGoesAndARunningJobKeepsItsOwn() throws Exception {
    Path config =
        Files.writeString(
            workspace.resolve("run.yaml"),
            """
            stage: train
            backend: shell
            run: echo x >"$NEXA_TASK_SCRATCH/left"; sleep 300
            resources: {cpus_per_task: 1, memory: 50M, time: 6m}
            """);
    JsonObject killed = started(config);
    JsonObject running = started(config);
    String job = "" + killed.objects("jobs").get(0).number("job_id");
    Person.command("scancel", "--signal=KILL", "--batch", job);
    person.finish(killed);
    assertThat(scratch(killed).resolve("task_0/left")).exists();

    String said = person.until("moved 1 path", "cleanup", "--days", "0", "--yes");

    assertThat(said).contains("its run has not ended");
    assertThat(scratch(killed)).doesNotExist();
    assertThat(scratch(running).resolve("task_0/left")).exists();
    List<JsonObject> cleanups = person.json("cleanup", "list", "--json").objects("cleanups");
    person.says("cleanup", "--undo", cleanups.get(0).text("cleanup_id"));
    assertThat(scratch(killed).resolve("task_0/left")).exists();
    person.says("cancel", running.text("run_id"));
    person.finish(running);
  }
}
