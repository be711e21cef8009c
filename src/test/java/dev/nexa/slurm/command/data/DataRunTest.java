package dev.nexa.slurm.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A data stage on this machine, from the config to the rows. */
@Tag("long")
class DataRunTest {
  @TempDir Path workspace;

  private Path output(JsonObject run) {
    return workspace.resolve("storage/durable/datasets/" + run.text("run_id"));
  }

  @Test
  void theProgramIsPlacedCheckedAndRun() throws Exception {
    Person person = new Person(workspace);
    JsonObject run = person.submitAndWait(DataRuns.config(workspace, 1), "--local");

    JsonObject manifest = person.manifest(run);
    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    JsonObject metrics = manifest.object("metrics");
    assertThat(metrics.number("rows_in")).isEqualTo(202);
    assertThat(metrics.number("rows_out")).isEqualTo(180);
    assertThat(metrics.number("rows_rejected")).isEqualTo(22);
    assertThat(metrics.number("rejected_duplicate")).isEqualTo(20);
    assertThat(DataRuns.column(output(run), "rejects", "reason")).hasSize(22);
    List<String> train = DataRuns.column(output(run), "train", "text");
    List<String> test = DataRuns.column(output(run), "test", "text");
    assertThat(train.size() + test.size()).isEqualTo(180);
    assertThat(test).hasSizeBetween(18, 60);
    try (var programs = Files.list(workspace.resolve("programs"))) {
      Path program = programs.toList().get(0);
      assertThat(program.getFileName().toString()).isEqualTo(metrics.text("program_sha256"));
      assertThat(Sha256.of(program.resolve("nexa-slurm.jar")))
          .isEqualTo(metrics.text("program_sha256"));
      assertThat(Files.readString(workspace.resolve("runs/" + run.text("run_id") + "/plan.json")))
          .contains(metrics.text("program_sha256"));
    }
  }

  @Test
  void severalTasksWriteTheSameRowsInTheSameOrder() throws Exception {
    Person person = new Person(workspace);
    JsonObject one = person.submitAndWait(DataRuns.config(workspace, 1), "--local");
    JsonObject three = person.submitAndWait(DataRuns.config(workspace, 3), "--local");

    assertThat(person.manifest(three).object("metrics").number("rows_in")).isEqualTo(202);
    for (String split : List.of("train", "test")) {
      assertThat(DataRuns.column(output(three), split, "id"))
          .as(person.logs(three))
          .isEqualTo(DataRuns.column(output(one), split, "id"));
    }
  }

  @Test
  void aProgramThatWasChangedIsNotRun() throws Exception {
    Person person = new Person(workspace);
    JsonObject run = person.submitAndWait(DataRuns.config(workspace, 1), "--local");
    String sha256 = person.manifest(run).object("metrics").text("program_sha256");
    Path jar = workspace.resolve("programs/" + sha256 + "/nexa-slurm.jar");
    Files.delete(jar);
    Files.writeString(jar, "other");

    assertThat(person.fails("submit", workspace.resolve("prepare.yaml").toString(), "--local"))
        .contains(jar + " was changed");
    assertThat(person.fails("rerun", run.text("run_id"))).contains("nexa-slurm.jar");
  }
}
