package dev.nexa.slurm.command.releases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A halt names the runs that Slurm starts in spite of it. On the real Slurm. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class HaltWithWaitingRunsTest {
  @TempDir Path workspace;

  @Test
  void aRunThatWaitsInTheQueueIsNamedWithItsCancelCommand() throws Exception {
    Person person = new Person(workspace);
    person.slurmProfile("health_check: false\n");
    JsonObject first = person.submit(config("train").toString());
    String after = "afterany:" + first.objects("jobs").get(0).number("job_id");
    JsonObject publish =
        person.json("submit", config("publish").toString(), "--dependency", after, "--json");
    JsonObject other = person.submit(config("train").toString(), "--dependency", after);
    // Later than the runs: under this rule, submit asks for a gate.
    Files.writeString(
        workspace.resolve("configs/policy.yaml"),
        "approval_over: {amount: 10000, currency: USD}\ngate_before: [publish]\n");
    String id = publish.text("run_id");

    String said = person.says("halt", "--reason", "leak", "--cluster", "test");

    assertThat(said)
        .contains(
            id + " waits in the queue and will start; to prevent that: nexa-slurm cancel " + id)
        .doesNotContain(other.text("run_id"))
        .doesNotContain(first.text("run_id"));
    for (JsonObject run : new JsonObject[] {publish, other, first}) {
      person.says("cancel", run.text("run_id"));
    }
    assertThat(person.says("halt", "--cluster", "test")).doesNotContain("waits in the queue");
  }

  private Path config(String stage) throws IOException {
    return Files.writeString(
        workspace.resolve(stage + ".yaml"),
        "stage: "
            + stage
            + "\nbackend: shell\nrun: sleep 60\n"
            + "resources: {cpus_per_task: 1, memory: 100M, time: 5m}\n");
  }
}
