package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * configs/pipelines/distill.yaml on the real Slurm. A stand-in plays vLLM; everything else is real.
 * The training is configs/train/science.yaml: PyTorch's DDP on CPUs, with the teacher's answers.
 */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Tag("full")
class PipelineDistillTest {
  private static final int PROMPTS = 200;

  @TempDir private Path workspace;

  @Test
  void rawPromptsBecomeAServedModelAndARequeueLosesNoAnswer() throws Exception {
    Person person = new Person(workspace);
    Path log = workspace.resolve("answers.log");
    person.slurmProfile(
        "health_check: false\nenv: {PATH: '%s:/usr/bin:/bin', STANDIN_LOG: '%s'}\n"
            .formatted(Path.of("src/test/resources/pipeline").toAbsolutePath(), log));
    Files.writeString(
        workspace.resolve("configs/policy.yaml"),
        "approval_over: {amount: 10000, currency: USD}\ngate_before: [serve, sync]\n");
    prompts("data/raw/prompts.jsonl", "fall as fast as", PROMPTS);
    prompts("data/processed/evaluation/questions.jsonl", "weigh as much as", 40);

    String id = run(person).text("pipeline_id");
    requeueAtHalf(person, id, log);
    until(person, id, "sync", "completed");
    JsonObject served = until(person, id, "serve", "running");

    assertThat(served.objects("stages").stream().limit(13).map(stage -> stage.text("state")))
        .as("%s", served)
        .containsOnly("completed");
    JsonObject generated = metrics(served, "generate");
    assertThat(generated.number("rows_out")).isEqualTo(PROMPTS);
    long teacher =
        Files.readAllLines(log).stream().filter(l -> l.startsWith("Qwen2.5-32B")).count();
    long judged = metrics(served, "judged").number("rows_in");
    assertThat((teacher - judged) / (double) PROMPTS).as("passes").isLessThanOrEqualTo(1.01);
    assertThat(metrics(served, "filter").number("rows_out")).isEqualTo(PROMPTS);
    assertThat(metrics(served, "train").decimal("loss_drop")).isPositive();
    assertThat(metrics(served, "gate").object("gate").text("verdict")).isEqualTo("pass");
    assertThat(workspace.resolve("durable/deploy").resolve(stage(served, "sync").text("run_id")))
        .isNotEmptyDirectory();

    assertThat(ask(stage(served, "serve").text("run_id"))).contains("Because of ");
    person.says("serve", "stop", stage(served, "serve").text("run_id"));
    served = until(person, id, "serve", "cancelled");
    assertThat(metrics(served, "sync").number("mirrored_files")).isPositive();
    assertThat(person.says("audit")).contains(" 0 differences");
  }

  private JsonObject run(Person person) throws IOException {
    Path file = workspace.resolve("distill.yaml");
    String text = Files.readString(Path.of("configs/pipelines/distill.yaml"));
    Files.writeString(
        file,
        text.replace(
                "    config: configs/distill/train.yaml\n    after: [filter]\n",
                "    config: configs/train/science.yaml\n    after: [generate, filter]\n"
                    + "    set: {dataset_path: \"${stages.generate.output}/answers-00000-00000.jsonl\"}\n")
            .replace("configs/", Path.of("configs").toAbsolutePath() + "/"));
    List<String> words = new ArrayList<>(List.of("pipeline", "run", file.toString()));
    words.addAll(List.of("--cluster", "test", "--json"));
    for (String stage : List.of("generate", "answer", "judged", "serve", "prepare")) {
      words.addAll(List.of("--set", stage + ".resources.memory=2G"));
      words.addAll(List.of("--set", stage + ".resources.cpus_per_task=1"));
    }
    for (String stage : List.of("collect", "filter", "questions", "answers", "judge", "score")) {
      words.addAll(List.of("--set", stage + ".resources.memory=1500M"));
      words.addAll(List.of("--set", stage + ".resources.cpus_per_task=1"));
    }
    words.addAll(List.of("--set", "generate.requeues=2"));
    words.addAll(List.of("--set", "generate.data.generate.concurrency=1"));
    return Json.parseObject(person.says(words.toArray(String[]::new)));
  }

  /** Requeues the teacher's job when half of the answers are there. */
  private void requeueAtHalf(Person person, String id, Path log) throws Exception {
    for (int i = 0; !Files.exists(log) || Files.readAllLines(log).size() < PROMPTS / 4; i++) {
      assertThat(i).as("%s", log).isLessThan(1200);
      Thread.sleep(100);
    }
    JsonObject now = Json.parseObject(person.says("pipeline", "status", id, "--json"));
    String run = stage(now, "generate").text("run_id");
    String job =
        Json.parseObject(Files.readString(workspace.resolve("runs/manifests/" + run + ".json")))
                .objects("submissions")
                .get(0)
                .number("job_id")
            + "";
    Process requeue = new ProcessBuilder("scontrol", "requeue", job + "_0").inheritIO().start();
    assertThat(requeue.waitFor()).isZero();
    Person.awaitPending(job + "_0");
    Person.letGo(job + "_0");
  }

  private void prompts(String name, String words, int count) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < count; i++) {
      lines.append(
          Json.compact(
              new JsonObject()
                  .with("id", words.charAt(0) + "" + i)
                  .with(
                      "question",
                      "Why does ball number %d %s ball number %d?"
                          .formatted(i, words, i * 7 + 3))));
      lines.append('\n');
    }
    Path file = workspace.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, lines);
  }

  private static JsonObject until(Person person, String id, String stage, String state)
      throws Exception {
    for (int i = 0; i < 300; i++) {
      person.says("reconcile");
      JsonObject now = Json.parseObject(person.says("pipeline", "status", id, "--json"));
      if (stage(now, stage).text("state").equals(state)) {
        return now;
      }
      assertThat(now.text("state")).as("%s", now).isNotIn("failed", "blocked");
      Thread.sleep(500);
    }
    throw new AssertionError(person.says("pipeline", "status", id));
  }

  private static JsonObject stage(JsonObject pipeline, String name) {
    Map<String, JsonObject> stages = new HashMap<>();
    pipeline.objects("stages").forEach(stage -> stages.put(stage.text("stage"), stage));
    return stages.get(name);
  }

  private JsonObject metrics(JsonObject pipeline, String stage) throws IOException {
    String run = stage(pipeline, stage).text("run_id");
    return Json.parseObject(Files.readString(workspace.resolve("runs/manifests/" + run + ".json")))
        .object("metrics");
  }

  /** Asks the served model, as soon as it answers. */
  private String ask(String run) throws Exception {
    Path registration = workspace.resolve("shared/active_jobs/" + run + ".json");
    for (int i = 0; i < 300; i++) {
      if (Files.exists(registration)) {
        JsonObject server = Json.parseObject(Files.readString(registration));
        String body =
            "{\"model\": \"science\", \"messages\": [{\"role\": \"user\", \"content\": \"Why?\"}]}";
        HttpRequest request =
            HttpRequest.newBuilder(
                    URI.create(
                        "http://localhost:" + server.number("port") + "/v1/chat/completions"))
                .header(
                    "Authorization",
                    "Bearer " + Files.readString(Path.of(server.text("api_key_file"))).strip())
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        try {
          HttpResponse<String> answer =
              HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
          if (answer.statusCode() == 200) {
            return answer.body();
          }
        } catch (IOException notYet) {
          assertThat(i).as("%s", notYet).isLessThan(299);
        }
      }
      Thread.sleep(200);
    }
    throw new AssertionError("no answer of " + run);
  }
}
