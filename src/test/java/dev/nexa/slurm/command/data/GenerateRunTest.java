package dev.nexa.slurm.command.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.data.collect.BatchAnswer;
import dev.nexa.slurm.data.generate.FakeTeacher;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Generation as a run on this machine: a server behind a URL, and a server of the job's own. */
@Tag("long")
class GenerateRunTest {
  @TempDir Path workspace;

  private void requests(int count) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      JsonObject body =
          new JsonObject()
              .with("model", "any")
              .with("prompt", "question " + i)
              .with("max_tokens", 60);
      lines.add(
          Json.compact(
              new JsonObject()
                  .with("custom_id", "q" + i)
                  .with("method", "POST")
                  .with("url", "/v1/completions")
                  .with("body", body)));
    }
    Files.createDirectories(workspace.resolve(".nexa"));
    Files.write(workspace.resolve("prompts.jsonl"), lines);
  }

  private Path output(JsonObject run) {
    return workspace.resolve("storage/durable/datasets/" + run.text("run_id"));
  }

  private List<BatchAnswer> answers(JsonObject run) throws IOException {
    List<BatchAnswer> answers = new ArrayList<>();
    try (Stream<Path> files = Files.list(output(run))) {
      for (Path file : files.filter(it -> it.toString().endsWith(".jsonl")).sorted().toList()) {
        Files.readAllLines(file).forEach(line -> answers.add(BatchAnswer.parse(line)));
      }
    }
    return answers;
  }

  @Test
  void aTeacherBehindAUrlIsPaidOnceAndItsKeyIsNowhere() throws Exception {
    requests(40);
    Path prices = workspace.resolve("configs/prices/default.yaml");
    Files.createDirectories(prices.getParent());
    Files.writeString(
        prices,
        """
        currency: USD
        as_of: 2026-01-01
        api_tokens:
          big-teacher: {input: {price: 1, source: list of 2026}, output: {price: 2, source: list of 2026}}
        """);
    Path secrets = workspace.resolve("secrets.env");
    Files.writeString(secrets, "TEACHER_KEY=" + FakeTeacher.KEY + "\n");
    Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
    Person person = new Person(workspace);
    try (FakeTeacher teacher = new FakeTeacher()) {
      Path config = workspace.resolve("teacher.yaml");
      Files.writeString(
          config,
          """
          stage: generate
          backend: data
          env_file: ${workspace}/secrets.env
          data:
            generate:
              requests: ["${workspace}/prompts.jsonl"]
              url: %s
              model: big-teacher
              api_key: TEACHER_KEY
              max_input_tokens: 20000
              max_output_tokens: 20000
          resources: {time: 5m, memory: 1G, cpus_per_task: 1}
          array: {shards: 2}
          """
              .formatted(teacher.url()));

      JsonObject run = person.submitAndWait(config.toString(), "--local");

      assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
      JsonObject metrics = person.manifest(run).object("metrics");
      assertThat(metrics.number("rows_in")).isEqualTo(40);
      assertThat(metrics.number("rows_out")).isEqualTo(40);
      assertThat(metrics.number("api_input_tokens")).isEqualTo(teacher.input.get());
      assertThat(metrics.number("api_output_tokens")).isEqualTo(teacher.output.get());
      assertThat(metrics.text("api_model")).isEqualTo("big-teacher");
      TreeSet<String> ids = new TreeSet<>();
      for (BatchAnswer answer : answers(run)) {
        ids.add(answer.customId());
        assertThat(answer.choices().get(0).text())
            .isEqualTo(FakeTeacher.text("question " + answer.customId().substring(1)));
      }
      assertThat(ids).hasSize(40);

      JsonObject second = person.submitAndWait(config.toString(), "--local");
      JsonObject paid = person.manifest(second).object("metrics");
      assertThat(teacher.asked.get()).isEqualTo(40);
      assertThat(paid.number("answers_cached")).isEqualTo(40);
      assertThat(paid.number("api_output_tokens")).isZero();
    }
    keyIsOnlyIn(secrets);
  }

  private void keyIsOnlyIn(Path secrets) throws IOException {
    try (Stream<Path> kept = Files.walk(workspace)) {
      for (Path file : kept.filter(Files::isRegularFile).toList()) {
        if (!file.equals(secrets)) {
          String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
          assertThat(text.contains(FakeTeacher.KEY)).as("%s", file).isFalse();
        }
      }
    }
  }

  private Path ownTeacher(String more) throws IOException {
    Path bin = Files.createDirectories(workspace.resolve("bin"));
    Files.copy(Path.of("src/test/resources/serve/vllm"), bin.resolve("vllm"));
    Files.setPosixFilePermissions(
        bin.resolve("vllm"), PosixFilePermissions.fromString("rwxr-xr-x"));
    Path config = workspace.resolve("teacher.yaml");
    Files.writeString(
        config,
        """
        stage: generate
        backend: vllm
        model_name: lab/teacher-7b
        data:
          generate: {requests: ["${workspace}/prompts.jsonl"], concurrency: 4}
        resources: {time: 5m, memory: 1G, cpus_per_task: 1}
        env:
          PATH: "%s:/usr/bin:/bin"
          STANDIN_ANSWERED: "%s"
          STANDIN_TAKES: "0.02"
        """
                .formatted(bin, workspace.resolve("answered"))
            + more);
    return config;
  }

  @Test
  void aTeacherOnOurGpusThatDiesInTheMiddleLosesOnlyWhatItWorkedOn() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "the stand-in is Python");
    requests(300);
    Person person = new Person(workspace);
    Path config = ownTeacher("  STANDIN_HOLDS: \"150\"\nrequeues: 1\nretry_on: [signal, 1]\n");
    JsonObject run = person.submit(config.toString(), "--local");
    Path answered = workspace.resolve("answered");
    Person.await(answered);
    while (Files.readAllLines(answered).size() < 150) {
      Thread.sleep(20);
    }
    String server = Person.command("pgrep", "-f", workspace + "/bin/vllm serve").strip();
    assertThat(server).as(person.logs(run)).matches("[0-9]+");
    Person.command("kill", "-KILL", server);

    JsonObject manifest = person.finish(run);

    String log = person.logs(run);
    assertThat(manifest.text("status")).as(log).isEqualTo("completed");
    assertThat(log).contains("the server ended before all requests had an answer");
    assertThat(answers(run)).hasSize(300).allMatch(BatchAnswer::succeeded);
    assertThat(answers(run).get(17).customId()).isEqualTo("q17");
    assertThat(Files.readAllLines(answered)).hasSizeBetween(300, 304);
    JsonObject metrics = manifest.object("metrics");
    assertThat(metrics.number("rows_out")).isEqualTo(300);
    assertThat(metrics.number("completion_tokens")).isEqualTo(1500);
    assertThat(metrics.members()).doesNotContainKey("api_model");
  }

  @Test
  void aTeacherThatCannotStartIsNamedBesideItsLastLines() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "the stand-in is Python");
    requests(3);
    Person person = new Person(workspace);
    Path config = ownTeacher("");
    Files.writeString(
        config,
        Files.readString(config)
            .replace("  STANDIN_TAKES:", "  STANDIN_DIES: \"1\"\n  STANDIN_TAKES:"));

    JsonObject run = person.submitAndWait(config.toString(), "--local");

    assertThat(person.manifest(run).text("status")).isEqualTo("failed");
    assertThat(person.logs(run))
        .contains("CUDA error: the stand-in dies once")
        .contains("nexa-slurm: the server ended", "[api-unusable]");
  }
}
