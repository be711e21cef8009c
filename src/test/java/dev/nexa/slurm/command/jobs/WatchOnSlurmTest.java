package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Person;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The watch of a run that runs, of one that waits for it, and of their ends. On the real Slurm. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class WatchOnSlurmTest {
  @TempDir Path workspace;

  @Test
  void aRunThatRunsOneThatWaitsAndTheirEnds() throws Exception {
    Person person = new Person(workspace);
    person.slurmProfile("accelerator: cpu\nhealth_check: false\n");
    Path config = workspace.resolve("run.yaml");
    Files.writeString(
        config,
        "stage: data\nbackend: shell\nrun: 'until [[ -e "
            + workspace
            + "/go ]]; do sleep 0.2; done'\n"
            + "array: {shards: 2}\nresources: {memory: 50M, time: 5m}\n");
    String first = person.submit(config.toString()).text("run_id");
    JsonObject second = person.submit(config.toString(), "--dependency", "afterok:" + first);
    person.until("running", "status", first);
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    StringWriter out = new StringWriter();
    String[] typed = {"status", "--watch", "1s", first, second.text("run_id")};
    Thread watch =
        new Thread(
            () ->
                Main.run(
                    typed, environment, new PrintWriter(out, true), new PrintWriter(out, true)));
    watch.setDaemon(true);
    watch.start();
    for (int i = 0; i < 600 && !out.toString().contains("waits for another job"); i++) {
      Thread.sleep(200);
    }
    Files.createFile(workspace.resolve("go"));
    watch.join(360_000);

    assertThat(watch.isAlive()).isFalse();
    assertThat(out.toString())
        .containsPattern(first + ".* running ")
        .containsPattern(second.text("run_id") + ".*waits for another job to end")
        .containsPattern(first + ".* completed ")
        .containsPattern(second.text("run_id") + ".* completed ");
  }
}
