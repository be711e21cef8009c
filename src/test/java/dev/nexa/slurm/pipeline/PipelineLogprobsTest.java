package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The last three stages of configs/pipelines/distill-logits.yaml on this machine, without GPUs.
 * Stand-ins play vLLM and axolotl. The stand-in for axolotl checks each row against what its
 * teacher said.
 */
class PipelineLogprobsTest {
  private static final int CONVERSATIONS = 60;

  /** Different words, because the filter rejects a text that repeats itself. */
  private static final String LONG =
      IntStream.range(0, 50).mapToObj(i -> "reason" + i).collect(Collectors.joining(" "));

  private static final Path STAND_INS = Path.of("src/test/resources/logprobs");

  @TempDir private Path workspace;

  @Test
  void theStudentGetsTheTeachersLogProbabilitiesOfEachToken() throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "the stand-ins are Python");
    Person person = new Person(workspace);
    config("filter", "${stages.collect.output}", "${workspace}/collected.jsonl");
    config("logprobs", "max_length: 4097", "max_length: 40");
    config("train-logits", "", "");
    collected();
    Path pipeline = workspace.resolve("pipeline.yaml");
    Files.writeString(
        pipeline,
        """
        stages:
          filter: {config: filter.yaml}
          logprobs: {config: logprobs.yaml, after: [filter]}
          train: {config: train-logits.yaml, after: [logprobs]}
        """
            .replace("config: ", "config: " + workspace + "/"));

    JsonObject ended =
        Json.parseObject(
            person.says("pipeline", "run", pipeline.toString(), "--local", "--wait", "--json"));

    assertThat(ended.text("state")).as("%s", ended).isEqualTo("completed");
    JsonObject logprobs = metrics(ended, "logprobs");
    assertThat(logprobs.number("rows_in")).isEqualTo(CONVERSATIONS);
    assertThat(logprobs.number("rows_out")).isEqualTo(CONVERSATIONS - 1);
    assertThat(logprobs.number("rows_rejected")).isEqualTo(1);
    assertThat(logprobs.number("completion_tokens")).isEqualTo(CONVERSATIONS - 1);
    JsonObject trained = metrics(ended, "train");
    assertThat(trained.number("rows")).isEqualTo(CONVERSATIONS - 1);
    // Seven words of each answer, and the end of its turn.
    assertThat(trained.number("learned_tokens")).isEqualTo(8L * (CONVERSATIONS - 1));
    assertThat(rejects()).contains("maximum context length is 40 tokens");
    assertThat(person.says("audit")).contains(" 0 differences");
  }

  /** Copies a config, with the stand-ins and without GPUs. */
  private void config(String name, String from, String to) throws IOException {
    String text =
        Files.readString(Path.of("configs/distill/" + name + ".yaml"))
            .replaceFirst(
                "(?m)^resources: .*$", "resources: {cpus_per_task: 1, memory: 1G, time: 5m}")
            .replaceFirst("array: .*", "array: {shards: 2}");
    Files.createDirectories(workspace.resolve(".nexa"));
    Files.writeString(
        workspace.resolve(name + ".yaml"),
        (from.isEmpty() ? text : text.replace(from, to))
            + "env: {PATH: \"%s:/usr/bin:/bin\"}\n".formatted(STAND_INS.toAbsolutePath()));
  }

  /** Rows as {@code data collect} writes them; the teacher finds the last one too long. */
  private void collected() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < CONVERSATIONS; i++) {
      String answer = "Because everybody who measured it found " + i;
      JsonObject row =
          new JsonObject()
              .with("custom_id", "q" + i)
              .with("prompt", "Why is number " + i + " so?")
              .with("completion", i + 1 < CONVERSATIONS ? answer : LONG);
      lines.append(Json.compact(row)).append('\n');
    }
    Files.writeString(workspace.resolve("collected.jsonl"), lines);
  }

  private String rejects() throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.walk(workspace.resolve("storage"))) {
      for (Path file :
          files.filter(it -> it.getFileName().toString().matches("rejects-.*[.]jsonl")).toList()) {
        all.append(Files.readString(file));
      }
    }
    return all.toString();
  }

  private JsonObject metrics(JsonObject pipeline, String name) throws IOException {
    String run =
        pipeline.objects("stages").stream()
            .filter(stage -> stage.text("stage").equals(name))
            .findFirst()
            .orElseThrow()
            .text("run_id");
    return Json.parseObject(Files.readString(workspace.resolve("runs/manifests/" + run + ".json")))
        .object("metrics");
  }
}
