package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * configs/pipelines/demo.yaml, from raw rows to the gate. Programs play the models; everything else
 * is real.
 */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
@Tag("full")
class PipelineDemoTest {
  private static final String DEMO = "configs/pipelines/demo.yaml";

  @TempDir Path workspace;

  @ParameterizedTest
  @ValueSource(strings = {"slurm", "local"})
  void theDemonstrationRunsAndABadModelDoesNotPassTheGate(String scheduler) throws IOException {
    Person person = new Person(workspace);
    person.slurmProfile("scheduler: " + scheduler + "\nhealth_check: false\n");

    JsonObject good = run(person);
    assertThat(good.text("state")).isEqualTo("completed");
    assertThat(metrics(good, "prepare"))
        .returns(302L, metrics -> metrics.number("rows_in"))
        .returns(300L, metrics -> metrics.number("rows_out"))
        .returns(2L, metrics -> metrics.number("rows_rejected"));
    assertThat(metrics(good, "collect").number("rows_out")).isEqualTo(300);
    assertThat(metrics(good, "gate").object("gate").text("verdict")).isEqualTo("pass");
    Path released = workspace.resolve("durable/datasets").resolve(runOf(good, "publish"));
    assertThat(released.resolve("model.txt")).isNotEmptyFile();

    JsonObject bad = run(person, "--reuse", "--set", "judged.env.QUALITY=2");
    assertThat(bad.text("state")).isEqualTo("failed");
    assertThat(stage(bad, "gate").text("why")).startsWith("dss is ").contains("at least 3");
    assertThat(stage(bad, "publish").text("state")).isEqualTo("cancelled");
    assertThat(runOf(bad, "train")).isEqualTo(runOf(good, "train"));
    assertThat(person.says("eval", "leaderboard", "--json"))
        .contains(runOf(good, "score"), runOf(bad, "score"));
    assertThat(person.says("audit")).contains(" 0 differences");
  }

  private static JsonObject run(Person person, String... more) {
    List<String> words = new ArrayList<>(List.of("pipeline", "run", DEMO));
    words.addAll(List.of("--cluster", "test", "--wait", "--json"));
    words.addAll(List.of(more));
    return Json.parseObject(person.says(words.toArray(String[]::new)));
  }

  private static JsonObject stage(JsonObject pipeline, String name) {
    return pipeline.objects("stages").stream()
        .filter(stage -> stage.text("stage").equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static String runOf(JsonObject pipeline, String name) {
    return stage(pipeline, name).text("run_id");
  }

  private JsonObject metrics(JsonObject pipeline, String name) throws IOException {
    Path manifest = workspace.resolve("runs/manifests/" + runOf(pipeline, name) + ".json");
    return Json.parseObject(Files.readString(manifest)).object("metrics");
  }
}
