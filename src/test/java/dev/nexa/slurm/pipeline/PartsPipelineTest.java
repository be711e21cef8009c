package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The pipeline of docs/data.md that divides the reading, with a task that fails at first. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Tag("full")
class PartsPipelineTest {
  @TempDir Path workspace;

  /** Returns the first block of YAML after a sentence of the page. */
  private static String example(String sentence) throws IOException {
    String page = Files.readString(Path.of("docs/data.md"));
    int from = page.indexOf("```yaml\n", page.indexOf(sentence)) + "```yaml\n".length();
    return page.substring(from, page.indexOf("```", from));
  }

  @Test
  void aTaskOfTheFirstStageFailsAndResumeFinishesBothStages() throws Exception {
    Files.createDirectories(workspace.resolve("raw"));
    StringBuilder lines = new StringBuilder();
    for (int row = 0; row < 60; row++) {
      lines.append(row % 20 == 7 ? "no row\n" : "");
      lines.append("{\"id\": %d, \"text\": \"text %d\"}\n".formatted(row % 50, row % 55));
    }
    Files.writeString(workspace.resolve("raw/a.jsonl"), lines);
    // The last file belongs to the last task, whatever the sizes are.
    Files.writeString(workspace.resolve("raw/b.csv"), "id,text\n70,hello,there\n");
    Files.writeString(workspace.resolve("rows.yaml"), example("`rows.yaml`:"));
    Path pipeline =
        Files.writeString(workspace.resolve("divided.yaml"), example("`divided.yaml`:"));
    Person person = new Person(workspace);
    person.slurmProfile("health_check: false\n");

    JsonObject run =
        Json.parseObject(
            person.says("pipeline", "run", pipeline.toString(), "--cluster", "test", "--json"));
    String id = run.text("pipeline_id");
    ended(person, id, "blocked");
    Files.writeString(workspace.resolve("raw/b.csv"), "id,text\n70,hello there\n");
    assertThat(person.says("pipeline", "resume", id)).contains("read: task 2 again");
    JsonObject end = ended(person, id, "completed");

    assertThat(metrics(end, 0).number("rows_read")).isEqualTo(64);
    JsonObject prepared = metrics(end, 1);
    assertThat(prepared.number("rows_in")).isEqualTo(64);
    assertThat(prepared.number("rejected_broken")).isEqualTo(3);
    assertThat(prepared.number("rejected_duplicate_id")).isEqualTo(10);
    assertThat(prepared.number("rows_out")).isEqualTo(51);
  }

  private JsonObject ended(Person person, String id, String state) throws Exception {
    long deadline = System.nanoTime() + 300_000_000_000L;
    while (true) {
      person.says("reconcile");
      JsonObject now = Json.parseObject(person.says("pipeline", "status", id, "--json"));
      boolean open = state.equals("completed") && isOpen(now);
      if (now.text("state").equals(state) && !open) {
        return now;
      }
      assertThat(System.nanoTime()).as("still %s", now).isLessThan(deadline);
      Thread.sleep(300);
    }
  }

  /** Whether the records of a stage are not final. */
  private boolean isOpen(JsonObject pipeline) {
    return pipeline.objects("stages").stream()
        .anyMatch(stage -> Files.exists(workspace.resolve("runs/open/" + stage.text("run_id"))));
  }

  private JsonObject metrics(JsonObject pipeline, int stage) throws IOException {
    String run = pipeline.objects("stages").get(stage).text("run_id");
    Path manifest = workspace.resolve("runs/manifests/" + run + ".json");
    return Json.parseObject(Files.readString(manifest)).object("metrics");
  }
}
