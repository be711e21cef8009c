package dev.nexa.slurm.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.data.collect.BatchAnswer;
import dev.nexa.slurm.data.generate.FakeTeacher;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** An array of data.generate on the real Slurm, killed while a paid teacher holds requests. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
@Tag("full")
class GenerateOnSlurmTest {
  private static final int PROMPTS = 40;
  private static final int MOST_OUTPUT = 60;

  /** Each task has at least one of them. */
  private static final Set<String> HELD = Set.of("question 5", "question 17", "question 29");

  @TempDir Path workspace;
  private final Map<String, Integer> asked = new ConcurrentHashMap<>();
  private final Map<String, Integer> bodyBytes = new TreeMap<>();
  private final CountDownLatch held = new CountDownLatch(HELD.size());
  private final CountDownLatch killed = new CountDownLatch(1);
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("health_check: false\nprice_book: default\n");
    Path prices = Files.createDirectories(workspace.resolve("configs/prices"));
    Files.writeString(
        prices.resolve("default.yaml"),
        """
        currency: USD
        as_of: 2026-01-01
        api_tokens:
          big-teacher:
            input: {price: 1000, source: list of 2026}
            output: {price: 2000, source: list of 2026}
        """);
    Path secrets = workspace.resolve("secrets.env");
    Files.writeString(secrets, "TEACHER_KEY=" + FakeTeacher.KEY + "\n");
    Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < PROMPTS; i++) {
      JsonObject body =
          new JsonObject()
              .with("model", "big-teacher")
              .with("prompt", "question " + i)
              .with("max_tokens", MOST_OUTPUT);
      bodyBytes.put("question " + i, Json.compact(body).length());
      JsonObject line = new JsonObject().with("custom_id", "q" + i).with("method", "POST");
      lines.add(Json.compact(line.with("url", "/v1/completions").with("body", body)));
    }
    Files.write(workspace.resolve("prompts.jsonl"), lines);
  }

  @Test
  void killedTasksAskAgainOnlyWhatWasUnderWayAndTheirCostNamesTheLostAnswers() throws Exception {
    try (FakeTeacher teacher = new FakeTeacher().with(this::holdOnce)) {
      JsonObject run = person.submit(config(teacher).toString());
      String id = run.text("run_id");
      await(() -> held.getCount() == 0, run);
      await(() -> keptAnswers(run) == PROMPTS - HELD.size(), run);
      String job = run.objects("jobs").get(0).number("job_id") + "";
      assertThat(person.says("status", id)).contains("COST LACKS", "tokens of 2 tasks");
      assertThat(programs()).hasSize(2);
      Person.command("scancel", "--signal=KILL", "--full", job + "_0");
      await(() -> programs().size() == 1, run);
      Person.command("kill", "-KILL", programs().get(0));
      JsonObject ended = person.finish(run);
      assertThat(Json.compact(ended.object("tasks").object("states")))
          .isEqualTo("{\"cancelled\":1,\"failed\":1}");
      killed.countDown();
      await(() -> teacher.generated.get() == PROMPTS, run);
      assertThat(person.says("runs", "list")).contains("COST LACKS", "tokens of 2 tasks");
      JsonObject open = person.cost(run);
      assertThat(open.texts("not_measured")).contains("api_tokens");
      assertThat(open.texts("limits")).hasSize(2).allMatch(it -> it.contains("was killed"));

      person.says("rerun", id, "--tasks", "0-1", "--json");
      JsonObject completed = person.finish(run);

      assertThat(completed.text("status")).as(person.logs(run)).isEqualTo("completed");
      assertThat(asked).hasSize(PROMPTS);
      asked.forEach(
          (prompt, times) -> assertThat(times).as(prompt).isEqualTo(HELD.contains(prompt) ? 2 : 1));
      assertThat(answered(run)).hasSize(PROMPTS);
      costIsWhatTheServerChargedForAnswersThatArrived(run, teacher);
      assertThat(person.says("runs", "list")).contains("COST LACKS", "3 unknown requests");
      assertThat(person.says("costs", "show", id))
          .containsPattern("unknown output +180 +2000 +0.36\n")
          .contains("The answers of 3 requests never arrived.");
      assertThat(person.says("audit", id)).contains(" 0 differences");
    }
  }

  private void costIsWhatTheServerChargedForAnswersThatArrived(
      JsonObject run, FakeTeacher teacher) {
    long lostInput = HELD.stream().mapToLong(FakeTeacher::inputTokens).sum();
    long lostOutput = HELD.stream().mapToLong(FakeTeacher::outputTokens).sum();
    JsonObject metrics = person.manifest(run).object("metrics");
    assertThat(metrics.number("api_input_tokens")).isEqualTo(teacher.input.get() - lostInput);
    assertThat(metrics.number("api_output_tokens")).isEqualTo(teacher.output.get() - lostOutput);
    assertThat(metrics.number("api_unknown_requests")).isEqualTo(HELD.size());
    long mostInput = HELD.stream().mapToLong(bodyBytes::get).sum();
    assertThat(metrics.number("api_unknown_input_tokens")).isEqualTo(mostInput);
    assertThat(metrics.number("api_unknown_output_tokens"))
        .isEqualTo((long) MOST_OUTPUT * HELD.size());
    JsonObject cost = person.cost(run);
    assertThat(cost.number("version")).isEqualTo(2);
    List<BigDecimal> tokens =
        cost.object("actual").objects("lines").stream()
            .filter(line -> line.text("what").startsWith("api_tokens:"))
            .map(line -> new BigDecimal(line.text("quantity")).movePointRight(6))
            .toList();
    assertThat(tokens.get(0)).isEqualByComparingTo("" + (teacher.input.get() - lostInput));
    assertThat(tokens.get(1)).isEqualByComparingTo("" + (teacher.output.get() - lostOutput));
    assertThat(cost.texts("not_measured")).contains("api_tokens");
    assertThat(cost.texts("limits"))
        .hasSize(2)
        .allMatch(line -> line.contains("never arrived; the API may charge at most"));
  }

  private FakeTeacher.Fault holdOnce(String prompt, int tries) {
    asked.merge(prompt, 1, Integer::sum);
    if (tries == 1 && HELD.contains(prompt)) {
      held.countDown();
      try {
        killed.await();
      } catch (InterruptedException closed) {
        Thread.currentThread().interrupt();
      }
    }
    return FakeTeacher.Fault.NONE;
  }

  private Path config(FakeTeacher teacher) throws IOException {
    // Without a cache the port is not part of a request's key, so each pass has the same shards.
    return Files.writeString(
        workspace.resolve("generate.yaml"),
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
            cache: none
            concurrency: 3
            timeout: 10m
            max_input_tokens: 20000
            max_output_tokens: 20000
        resources: {partition: cpu, time: 10m, memory: 1G, cpus_per_task: 1}
        array: {shards: 2}
        """
            .formatted(teacher.url()));
  }

  /** Returns the ids of the tasks' programs, which run on this machine. */
  private List<String> programs() {
    try {
      return Person.command("pgrep", "-f", "java .*" + workspace + "/programs/").lines().toList();
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }

  private Path output(JsonObject run) {
    return workspace.resolve("durable/datasets/" + run.text("run_id"));
  }

  /** Counts the answers that the tasks have on disk: they cannot be lost any more. */
  private long keptAnswers(JsonObject run) {
    return lines(output(run).resolve("journal")).stream()
        .filter(line -> line.startsWith("{\"key\":") && line.endsWith("}"))
        .count();
  }

  private Set<String> answered(JsonObject run) {
    Set<String> ids = new TreeSet<>();
    for (String line : lines(output(run))) {
      BatchAnswer answer = BatchAnswer.parse(line);
      assertThat(answer.choices().get(0).text())
          .isEqualTo(FakeTeacher.text("question " + answer.customId().substring(1)));
      assertThat(ids.add(answer.customId())).as(answer.customId()).isTrue();
    }
    return ids;
  }

  /** Returns the lines of the JSONL files below a folder, apart from the journal. */
  private static List<String> lines(Path folder) {
    List<String> lines = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(it -> it.toString().endsWith(".jsonl")).toList()) {
          if (!folder.relativize(file).startsWith("journal")) {
            lines.addAll(Files.readAllLines(file));
          }
        }
      } catch (IOException failed) {
        throw new AssertionError(failed);
      }
    }
    return lines;
  }

  private void await(BooleanSupplier condition, JsonObject run) throws Exception {
    for (int i = 0; i < 1200 && !condition.getAsBoolean(); i++) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
    assertThat(condition.getAsBoolean()).as("asked %s; %s", asked, person.logs(run)).isTrue();
  }
}
