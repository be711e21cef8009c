package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pipeline of docs/data.md that removes near duplicates with several tasks, on this machine.
 */
@Tag("full")
class NearDuplicatesPipelineTest {
  @TempDir Path workspace;

  /** Returns the first block of YAML after a sentence of the page. */
  private static String example(String sentence) throws IOException {
    String page = Files.readString(Path.of("docs/data.md"));
    int from = page.indexOf("```yaml\n", page.indexOf(sentence)) + "```yaml\n".length();
    return page.substring(from, page.indexOf("```", from));
  }

  @Test
  void theExampleOfThePageRemovesThemOverAllTasks() throws IOException {
    Files.createDirectories(workspace.resolve("raw"));
    Files.writeString(workspace.resolve("raw/a.jsonl"), rows());
    Files.writeString(workspace.resolve("prepare.yaml"), example("`prepare.yaml`:"));
    Files.writeString(workspace.resolve("buckets.yaml"), example("`buckets.yaml`:"));
    Files.writeString(workspace.resolve("clusters.yaml"), example("`clusters.yaml`:"));
    Path pipeline = workspace.resolve("dataset.yaml");
    Files.writeString(pipeline, example("`dataset.yaml`:"));
    Person person = new Person(workspace);
    person.slurmProfile("scheduler: local\nhealth_check: false\n");

    JsonObject run =
        Json.parseObject(
            person.says(
                "pipeline", "run", pipeline.toString(), "--cluster", "test", "--wait", "--json"));

    assertThat(run.text("state")).as(run.toString()).isEqualTo("completed");
    JsonObject clusters = metrics(run, "clusters");
    assertThat(clusters.number("duplicates")).isEqualTo(30);
    JsonObject prepared = metrics(run, "prepare");
    assertThat(prepared.number("rows_in")).isEqualTo(60);
    assertThat(prepared.number("rows_out")).isEqualTo(30);
    assertThat(prepared.number("rejected_near_duplicate")).isEqualTo(30);
    assertThat(metrics(run, "signatures").number("rows_out")).isEqualTo(60);
    assertThat(
            person.fails(
                "submit", workspace.resolve("prepare.yaml").toString(), "--cluster", "test"))
        .contains("data.prepare.near_duplicates: compares all rows with each other")
        .contains("docs/data.md#near-duplicates-in-an-array");
  }

  /** 30 texts of 300 words, each twice: in the copy the last word is another. */
  private static String rows() {
    Random random = new Random(4);
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 30; i++) {
      StringBuilder text = new StringBuilder();
      for (int word = 0; word < 300; word++) {
        text.append(Long.toString(random.nextLong() & 0xFFFFFFL, 36)).append(' ');
      }
      for (String end : List.of("end", "other")) {
        lines.append(Json.compact(new JsonObject().with("text", text + end))).append('\n');
      }
    }
    return lines.toString();
  }

  private JsonObject metrics(JsonObject pipeline, String name) throws IOException {
    String id =
        pipeline.objects("stages").stream()
            .filter(stage -> stage.text("stage").equals(name))
            .findFirst()
            .orElseThrow()
            .text("run_id");
    Path manifests = workspace.resolve("runs/manifests/" + id + ".json");
    return Json.parseObject(Files.readString(manifests)).object("metrics");
  }
}
