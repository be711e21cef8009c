package dev.nexa.slurm.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.nio.file.Path;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A data stage as an array on the real Slurm. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class DataOnSlurmTest {
  @TempDir Path workspace;

  @Test
  void anArrayPreparesADataset() throws Exception {
    Person person = new Person(workspace);
    person.slurmProfile("health_check: false\n");

    JsonObject run = person.submitAndWait(DataRuns.config(workspace, 2));

    JsonObject manifest = person.manifest(run);
    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    JsonObject metrics = manifest.object("metrics");
    assertThat(metrics.number("rows_in")).isEqualTo(202);
    assertThat(metrics.number("rows_out")).isEqualTo(180);
    Path output = workspace.resolve("durable/datasets/" + run.text("run_id"));
    assertThat(
            DataRuns.column(output, "train", "id").size()
                + DataRuns.column(output, "test", "id").size())
        .isEqualTo(180);
  }
}
