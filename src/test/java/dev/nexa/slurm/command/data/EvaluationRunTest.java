package dev.nexa.slurm.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Two models are compared by runs; a stand-in writes what model and judge would answer. */
class EvaluationRunTest {
  private static final int ITEMS = 40;

  @TempDir Path workspace;

  @Test
  void aWorseModelFailsTheGateOnThisMachine() throws Exception {
    Person person = new Person(workspace);
    JsonObject manifest = compare(person, "--local");

    JsonObject gate = manifest.object("metrics").object("gate");
    assertThat(gate.text("reason"))
        .startsWith("dss is 3 against 4 of the baseline (difference -1, n = 40, 90 % interval -1");
    String log = logs(manifest);
    assertThat(log).contains("[gate-failed]").contains("the gate failed: dss is 3 against 4");
    assertThat(person.says("eval", "leaderboard")).containsSubsequence("v1", "4.0000", "v2", "3.0");
    JsonObject board = person.json("eval", "leaderboard", "--json", "--sort", "safety");
    assertThat(board.objects("runs"))
        .extracting(row -> row.text("run_id"))
        .containsExactly("v1", "v2");
    for (Path kind :
        List.of(durable().resolve("evals/reports"), durable().resolve("evals/outputs"))) {
      try (var files = Files.list(kind)) {
        assertThat(files.toList())
            .isNotEmpty()
            .allMatch(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS));
      }
    }
    String reports = workspace.resolve("reports").toString();
    person.says(
        "eval", "leaderboard", "--evals", evals("v1").getParent().toString(), "--write", reports);
    try (var files = Files.list(Path.of(reports))) {
      assertThat(
              files.map(it -> it.getFileName().toString().replaceAll("[0-9]{8}", "DAY")).sorted())
          .containsExactly(
              "leaderboard_DAY.csv", "leaderboard_DAY.json", "leaderboard_DAY.parquet");
    }
    assertThat(DataRuns.column(Path.of(reports), "leaderboard_", "dss"))
        .containsExactly("4.0", "3.0");
  }

  @Test
  @Tag("slurm")
  @ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
  @Tag("full")
  void aWorseModelFailsTheGateOnSlurm() throws Exception {
    Person person = new Person(workspace);
    person.slurmProfile("health_check: false\n");

    JsonObject manifest = compare(person, "--cluster", "test");

    assertThat(manifest.object("metrics").text("program_sha256")).hasSize(64);
  }

  /** Two models answer the same questions; the judge likes the second one less. */
  private JsonObject compare(Person person, String... where) throws IOException {
    String judge = judge(person, where);
    score(person, judge, "v1", 4, where);
    score(person, judge, "v2", 3, where);
    JsonObject manifest =
        run(
            person,
            "gate",
            """
            candidate: %s
            baseline: %s
            rules: [{metric: dss, no_worse: regression, minimum_effect: 0.1}]
            """
                .formatted(evals("v2"), evals("v1")),
            where);
    assertThat(manifest.text("status")).isEqualTo("failed");
    assertThat(manifest.object("metrics").object("gate").text("verdict")).isEqualTo("fail");
    return manifest;
  }

  private static String logs(JsonObject manifest) throws IOException {
    StringBuilder text = new StringBuilder();
    try (var files = Files.list(Path.of(manifest.text("logs")))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        text.append(Files.readString(file));
      }
    }
    return text.toString();
  }

  private Path durable() {
    Path local = workspace.resolve("storage/durable");
    return Files.exists(local) ? local : workspace.resolve("durable");
  }

  private Path evals(String model) {
    return durable().resolve("evals/science_eval_" + model + ".parquet");
  }

  /** Collects answers and makes requests to the judge. Returns the run that made them. */
  private String judge(Person person, String... where) throws IOException {
    Path batch = Files.createDirectories(workspace.resolve("batch"));
    List<String> requests = new ArrayList<>();
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < ITEMS; i++) {
      requests.add(
          "{\"custom_id\":\"q"
              + i
              + "\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{\"model\":\"m\","
              + "\"messages\":[{\"role\":\"user\",\"content\":\"Why?\"}]}}");
      answers.add(0, answer("q" + i, "because of " + i));
    }
    Files.write(batch.resolve("requests.jsonl"), requests);
    Files.write(batch.resolve("answers.jsonl"), answers);
    JsonObject collected =
        run(
            person,
            "collect",
            """
            requests: ["${workspace}/batch/requests.jsonl"]
            answers: ["${workspace}/batch/answers.jsonl"]
            """,
            where);
    assertThat(collected.object("metrics").number("rows_out")).isEqualTo(ITEMS);
    String input = "input: [\"${durable}/datasets/" + collected.text("run_id") + "\"]\n";
    return run(person, "judge", input + "model: the-judge\n", where).text("run_id");
  }

  private void score(Person person, String judge, String model, int score, String... where)
      throws IOException {
    Path asked = durable().resolve("datasets/" + judge + "/judge-requests-00000.jsonl");
    List<String> judged = new ArrayList<>();
    for (String line : Files.readAllLines(asked)) {
      judged.add(answer(Json.parseObject(line).text("custom_id"), judgement(score)));
    }
    Files.write(workspace.resolve("batch/judged-" + model + ".jsonl"), judged);
    JsonObject scored =
        run(
            person,
            "score",
            """
            requests: ["${durable}/datasets/%s"]
            answers: ["${workspace}/batch/judged-%2$s.jsonl"]
            run_id: %2$s
            """
                .formatted(judge, model),
            where);
    assertThat(scored.text("eval_report"))
        .endsWith("/datasets/" + scored.text("run_id") + "/science_eval_" + model + ".json");
    assertThat(scored.object("metrics").decimal("dss")).isEqualByComparingTo("" + score);
    assertThat(evals(model)).exists();
  }

  private JsonObject run(Person person, String step, String keys, String... where)
      throws IOException {
    Path config = workspace.resolve(step + ".yaml");
    Files.writeString(
        config,
        "stage: data\nbackend: data\nresources: {time: 5m, memory: 1G, cpus_per_task: 1}\ndata:\n  "
            + step
            + ":\n"
            + keys.indent(4));
    List<String> command = new ArrayList<>(List.of(where));
    command.add(0, config.toString());
    JsonObject run = person.submitAndWait(command.toArray(String[]::new));
    assertThat(run.members()).as(run.toString()).containsKey("files");
    JsonObject manifest = person.manifest(run);
    if (!step.equals("gate")) {
      assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    }
    return manifest;
  }

  private static String judgement(int score) {
    JsonObject all = new JsonObject();
    for (String rubric :
        List.of("falsifiability", "novelty", "grounding", "completeness", "safety")) {
      all.with(
          rubric,
          new JsonObject().with("reason", "because").with("score", BigDecimal.valueOf(score)));
    }
    return Json.compact(all);
  }

  private static String answer(String id, String text) {
    JsonObject message = new JsonObject().with("role", "assistant").with("content", text);
    JsonObject choice =
        new JsonObject().with("index", 0).with("message", message).with("finish_reason", "stop");
    JsonObject body = new JsonObject().with("choices", List.of(choice));
    return Json.compact(
        new JsonObject()
            .with("custom_id", id)
            .with("response", new JsonObject().with("status_code", 200).with("body", body))
            .with("error", null));
  }
}
