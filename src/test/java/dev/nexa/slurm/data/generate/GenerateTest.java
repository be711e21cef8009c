package dev.nexa.slurm.data.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Backoff;
import dev.nexa.slurm.data.collect.BatchAnswer;
import dev.nexa.slurm.data.generate.FakeTeacher.Fault;
import dev.nexa.slurm.data.rows.Share;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests, a server with faults, and what is kept, paid and written. */
class GenerateTest {
  /** Faults after which another try may succeed. */
  private static final List<Fault> FAULTS =
      List.of(
          Fault.BUSY,
          Fault.BROKEN,
          Fault.CUT_BEFORE,
          Fault.CUT_WITHIN,
          Fault.NO_JSON,
          Fault.ERROR_IN_200,
          Fault.NO_USAGE);

  @TempDir Path folder;
  private FakeTeacher teacher;
  private final List<JsonObject> told = new ArrayList<>();

  @BeforeEach
  void begin() throws IOException {
    teacher = new FakeTeacher();
  }

  @AfterEach
  void end() {
    teacher.close();
  }

  private Path requests(int count, String more) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      lines.add(line("r" + i, "prompt " + i + more));
    }
    return requests("requests.jsonl", lines);
  }

  private Path requests(String name, List<String> lines) throws IOException {
    return Files.write(folder.resolve(name), lines);
  }

  private static String line(String id, String prompt) {
    return Json.compact(
        new JsonObject()
            .with("custom_id", id)
            .with("method", "POST")
            .with("url", "/v1/completions")
            .with(
                "body",
                new JsonObject()
                    .with("model", "own")
                    .with("prompt", prompt)
                    .with("max_tokens", 40)));
  }

  private GenerateSettings settings(Tokens limit) {
    return new GenerateSettings(
        Optional.of(teacher.url()),
        Optional.of("big"),
        Optional.of("KEY"),
        8,
        Duration.ofSeconds(10),
        6,
        0.05,
        limit,
        Optional.empty());
  }

  private Generate.Where where(String run, Share share) {
    return new Generate.Where(
        folder.resolve(run), Optional.of(folder.resolve("cache")), run, share, "");
  }

  private Generate.Result generate(Path file, Generate.Where where, GenerateSettings settings) {
    Backoff fast = new Backoff(Duration.ofMillis(1), Duration.ofMillis(20), () -> 1);
    return new Generate(
            where,
            new Generate.Server(
                teacher.url(), Optional.of(FakeTeacher.KEY), Optional.empty(), Optional.empty()),
            settings,
            fast,
            new Generate.Listener(told::add, line -> {}))
        .run(List.of(file));
  }

  private Generate.Result generate(Path file, String run) {
    return generate(file, where(run, Share.ALL), settings(Tokens.UNLIMITED));
  }

  private List<BatchAnswer> answers(String run) throws IOException {
    return Files.readAllLines(folder.resolve(run + "/answers-00000.jsonl")).stream()
        .map(BatchAnswer::parse)
        .toList();
  }

  private static NexaException failure(Generate.Result result) {
    return (NexaException) result.failure().orElseThrow();
  }

  @Test
  void answersStandInTheOrderOfTheRequestsWithTheModelThatTheSettingsName() throws IOException {
    // Long enough for a second request to be sent meanwhile, also on a busy machine.
    teacher.taking(50);
    Generate.Result result = generate(requests(100, ""), "run");

    assertThat(result.failure()).isEmpty();
    List<BatchAnswer> answers = answers("run");
    assertThat(answers).hasSize(100);
    for (int i = 0; i < 100; i++) {
      BatchAnswer answer = answers.get(i);
      assertThat(answer.customId()).isEqualTo("r" + i);
      assertThat(answer.model()).contains("big");
      assertThat(answer.choices().get(0).text()).isEqualTo(FakeTeacher.text("prompt " + i));
    }
    JsonObject metrics = result.metrics();
    assertThat(metrics.number("rows_in")).isEqualTo(100);
    assertThat(metrics.number("rows_out")).isEqualTo(100);
    assertThat(metrics.text("api_model")).isEqualTo("big");
    assertThat(metrics.number("api_input_tokens")).isEqualTo(teacher.input.get());
    assertThat(metrics.number("api_output_tokens")).isEqualTo(teacher.output.get());
    assertThat(metrics.number("api_unknown_requests")).isZero();
    assertThat(teacher.mostAtOnce.get()).isBetween(2, 8);
    assertThat(told.get(0).number("rows_missing")).isEqualTo(100);
    assertThat(told.get(0).flag("api_tokens_open")).isTrue();
    assertThat(metrics.members()).doesNotContainKey("api_tokens_open");
    JsonObject report = Json.parseObject(Files.readString(folder.resolve("run/report-00000.json")));
    assertThat(report.object("files").number("answers-00000.jsonl"))
        .isEqualTo(Files.size(folder.resolve("run/answers-00000.jsonl")));
    metrics.with("files", report.object("files"));
    assertThat(Json.pretty(report)).isEqualTo(Json.pretty(metrics));
  }

  /** Each try of each prompt may go wrong; the server's own counts are the other side. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void withRandomFaultsEachRequestHasOneAnswer(long seed) throws IOException {
    teacher.with(
        (prompt, tries) -> {
          Random random = new Random(seed * 31 + prompt.hashCode() * 7L + tries);
          boolean fails = tries <= 4 && random.nextInt(3) == 0;
          return fails ? FAULTS.get(random.nextInt(FAULTS.size())) : Fault.NONE;
        });
    Path file = requests(300, " of " + seed);

    Generate.Result result = generate(file, "run");

    assertThat(result.failure()).isEmpty();
    List<BatchAnswer> answers = answers("run");
    assertThat(answers).hasSize(300);
    for (int i = 0; i < 300; i++) {
      assertThat(answers.get(i).customId()).isEqualTo("r" + i);
      assertThat(answers.get(i).choices().get(0).text())
          .isEqualTo(FakeTeacher.text("prompt " + i + " of " + seed));
    }
    JsonObject metrics = result.metrics();
    assertThat(metrics.number("api_unknown_requests")).isPositive();
    assertThat(metrics.number("api_output_tokens")).isLessThanOrEqualTo(teacher.output.get());
    // Each answer that was made is known by its tokens, or is one of the tries without known end.
    long known = teacher.generated.get() - metrics.number("api_unknown_requests");
    assertThat(known).isLessThanOrEqualTo(300);
    int before = teacher.asked.get();
    Generate.Result again = generate(file, "run");
    assertThat(teacher.asked.get()).isEqualTo(before);
    for (String name : List.of("input_tokens", "output_tokens", "unknown_requests")) {
      assertThat(again.metrics().number("api_" + name)).isEqualTo(metrics.number("api_" + name));
    }
  }

  /** The cache's key holds what earlier runs trained; who asks what does not depend on it. */
  @Test
  void answersOfAModelThatWasTrainedAgainAreNotTaken() throws IOException {
    Path file = requests(30, "");
    int asked = 0;
    for (String weights : List.of("{train_1=a}", "{train_1=b}", "{train_1=a}")) {
      long cached = 0;
      for (int task = 0; task < 2; task++) {
        Generate.Where plain = where("run " + weights + asked, new Share(task, 2));
        Generate.Where where =
            new Generate.Where(plain.output(), plain.cache(), plain.run(), plain.share(), weights);
        cached +=
            generate(file, where, settings(Tokens.UNLIMITED)).metrics().number("answers_cached");
      }
      boolean seen = asked == 60;
      asked += seen ? 0 : 30;
      assertThat(cached).as(weights).isEqualTo(seen ? 30 : 0);
      assertThat(teacher.asked.get()).isEqualTo(asked);
    }
  }

  /** A training may run again in its place between two attempts of a run. */
  @Test
  void anAttemptAfterATrainingRanAgainAsksAnewAndCountsWhatWasPaidBefore() throws IOException {
    Path file = requests(20, "");
    Generate.Where plain = where("run", Share.ALL);
    for (String weights : List.of("{train_1=a}", "{train_1=b}")) {
      generate(
          file,
          new Generate.Where(plain.output(), Optional.empty(), "run", Share.ALL, weights),
          settings(Tokens.UNLIMITED));
    }
    assertThat(teacher.asked.get()).isEqualTo(40);
    assertThat(
            Json.parseObject(Files.readString(folder.resolve("run/report-00000.json")))
                .number("api_output_tokens"))
        .isEqualTo(teacher.output.get());
  }

  @Test
  void anotherRunTakesPaidAnswersFromTheCacheAndPaysNothing() throws IOException {
    Path file = requests(50, "");
    generate(file, "one");
    byte[] first = Files.readAllBytes(folder.resolve("one/answers-00000.jsonl"));

    JsonObject metrics = generate(file, "two").metrics();

    assertThat(teacher.asked.get()).isEqualTo(50);
    assertThat(metrics.number("answers_cached")).isEqualTo(50);
    assertThat(metrics.number("api_output_tokens")).isZero();
    assertThat(Files.readAllBytes(folder.resolve("two/answers-00000.jsonl"))).isEqualTo(first);
    // Another way to write the same body, and another id.
    String other =
        "{\"custom_id\":\"x\",\"method\":\"POST\",\"url\":\"/v1/completions\",\"body\":"
            + "{\"max_tokens\":4.0e1,\"prompt\":\"prompt 7\",\"model\":\"any\"}}";
    generate(requests("other.jsonl", List.of(other)), "three");
    assertThat(teacher.asked.get()).isEqualTo(50);
    assertThat(answers("three").get(0).customId()).isEqualTo("x");
    // Another parameter is another request.
    generate(requests("more.jsonl", List.of(other.replace("4.0e1", "41"))), "four");
    assertThat(teacher.asked.get()).isEqualTo(51);
  }

  @Test
  void equalRequestsAreAskedAsOftenAsTheyStandInTheFilesAndNoMore() throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      lines.add(line("s" + i, "same"));
      lines.add(line("o" + i, "other " + i));
    }
    Path file = requests("same.jsonl", lines);

    generate(file, "one");
    assertThat(teacher.asked.get()).isEqualTo(24);
    generate(file, "two");
    assertThat(teacher.asked.get()).isEqualTo(24);
    lines.add(line("s12", "same"));
    assertThat(generate(requests("same.jsonl", lines), "three").metrics().number("answers_cached"))
        .isEqualTo(24);
    assertThat(teacher.asked.get()).isEqualTo(25);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 7})
  void theTasksOfAnArrayShareTheRequestsAndEqualOnesStayTogether(int tasks) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      lines.add(line("r" + i, "prompt " + i % 20));
    }
    Path file = requests("requests.jsonl", lines);
    List<String> ids = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      Share share = new Share(task, tasks);
      generate(file, where("run", share), settings(Tokens.UNLIMITED));
      Path part = folder.resolve("run/" + share.fileName("answers", 0, "jsonl"));
      assertThat(part.getFileName()).hasToString("answers-0000" + task + "-00000.jsonl");
      Files.readAllLines(part).forEach(line -> ids.add(BatchAnswer.parse(line).customId()));
    }
    assertThat(teacher.asked.get()).isEqualTo(60);
    assertThat(ids).hasSize(60).doesNotHaveDuplicates();
  }

  /** Whatever goes wrong: what the server charges never passes the limit. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void theLimitIsNeverPassedAndWhatWasPaidStays(long seed) throws IOException {
    Random random = new Random(seed);
    teacher.with(
        (prompt, tries) ->
            random.nextInt(6) == 0 ? FAULTS.get(random.nextInt(FAULTS.size())) : Fault.NONE);
    Path file = requests(200, "");
    Tokens limit = new Tokens(1500 + random.nextInt(500), 1000 + random.nextInt(1000));

    Generate.Result result = generate(file, where("run", Share.ALL), settings(limit));

    assertThat(failure(result).code()).isEqualTo(ErrorCode.TOKEN_LIMIT_REACHED);
    assertThat(failure(result).getMessage())
        .contains(" of " + limit.input() + " input tokens and ");
    assertThat(teacher.input.get()).isLessThanOrEqualTo(limit.input());
    assertThat(teacher.output.get()).isLessThanOrEqualTo(limit.output());
    assertThat(folder.resolve("run/answers-00000.jsonl")).doesNotExist();
    long answered = result.metrics().number("rows_out");
    assertThat(answered).isPositive();
    // A second attempt has no fresh limit.
    generate(file, where("run", Share.ALL), settings(limit));
    assertThat(teacher.output.get()).isLessThanOrEqualTo(limit.output());
    assertThat(teacher.input.get()).isLessThanOrEqualTo(limit.input());
    // Another run with a higher limit asks only for the rest.
    teacher.with((prompt, tries) -> Fault.NONE);
    int before = teacher.generated.get();
    JsonObject rest = generate(file, "run2").metrics();
    assertThat(rest.number("answers_cached")).isGreaterThanOrEqualTo(answered);
    assertThat(teacher.generated.get() - before)
        .isEqualTo(200 - (int) rest.number("answers_cached"));
  }

  @Test
  void aRequestWithoutALimitIsRefusedIfTheRunHasOne() throws IOException {
    Path file =
        requests(
            "r.jsonl", List.of(line("a", "p"), line("b", "p").replace(",\"max_tokens\":40", "")));

    try {
      generate(file, where("run", Share.ALL), settings(new Tokens(1000, 1000)));
    } catch (NexaException refused) {
      assertThat(refused.code()).isEqualTo(ErrorCode.BATCH_REQUESTS_INVALID);
      assertThat(refused.getMessage()).contains("r.jsonl:2: body has neither max_tokens nor");
      assertThat(teacher.asked.get()).isZero();
      return;
    }
    throw new AssertionError("it was not refused");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "UNAUTHORIZED | refuses request r0: status 401: Incorrect API key provided: ***",
        "NO_MODEL | refuses request r0: status 404: no such model",
        "NO_MONEY | refuses request r0: status 429: no money",
        "ELSEWHERE | refuses request r0: status 302",
      })
  void aRefusalOfAllRequestsEndsTheStepAtOnce(Fault fault, String message) throws IOException {
    teacher.with((prompt, tries) -> fault);
    GenerateSettings one =
        new GenerateSettings(
            Optional.empty(),
            Optional.of("big"),
            Optional.of("K"),
            1,
            Duration.ofSeconds(5),
            6,
            1.0,
            Tokens.UNLIMITED,
            Optional.empty());

    Generate.Result result = generate(requests(50, ""), where("run", Share.ALL), one);

    assertThat(failure(result).code()).isEqualTo(ErrorCode.API_REFUSED);
    assertThat(failure(result).getMessage()).contains(message);
    assertThat(teacher.asked.get()).isEqualTo(1);
    keyIsNowhere();
  }

  private void keyIsNowhere() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(Files.readString(file)).as("%s", file).doesNotContain(FakeTeacher.KEY);
      }
    }
  }

  @Test
  void aServerThatNeverAnsweredIsNamed() throws IOException {
    Path file = requests(10, "");
    teacher.close();

    Generate.Result result = generate(file, "run");

    assertThat(failure(result).getMessage()).startsWith(teacher.url() + " cannot be reached");
    assertThat(result.metrics().number("api_unknown_requests")).isZero();
  }

  @Test
  void failuresAreWrittenAsErrorLinesUpToTheirShareAndAskedAgainNextTime() throws IOException {
    teacher.with((prompt, tries) -> prompt.equals("prompt 3") ? Fault.BAD_REQUEST : Fault.NONE);
    Path file = requests(40, "");

    JsonObject metrics = generate(file, "run").metrics();

    assertThat(metrics.number("rows_out")).isEqualTo(39);
    assertThat(metrics.number("rows_rejected")).isEqualTo(1);
    assertThat(answers("run").get(3).failure())
        .contains("status 400: context_length_exceeded: too long");
    teacher.with((prompt, tries) -> Fault.NONE);
    assertThat(generate(file, "run").metrics().number("rows_rejected")).isZero();
    assertThat(teacher.asked.get()).isEqualTo(41);
  }

  @Test
  void tooManyFailuresStopTheStepAndTheAnswersStay() throws IOException {
    teacher.with((prompt, tries) -> prompt.endsWith("5") ? Fault.BROKEN : Fault.NONE);
    Path file = requests(100, "");

    Generate.Result result = generate(file, "run");

    assertThat(failure(result).code()).isEqualTo(ErrorCode.BATCH_INCOMPLETE);
    assertThat(failure(result).getMessage())
        .contains("6 of 100 requests failed; max_failed is 0.05");
    assertThat(folder.resolve("run/answers-00000.jsonl")).doesNotExist();
    teacher.with((prompt, tries) -> Fault.NONE);
    int made = teacher.generated.get();
    assertThat(generate(file, "run").failure()).isEmpty();
    assertThat(teacher.generated.get()).isEqualTo(100);
    assertThat(made).isPositive();
  }

  @Test
  void aSilentServerCountsAsPerhapsPaid() throws IOException {
    teacher.with((prompt, tries) -> tries == 1 ? Fault.SILENT : Fault.NONE);
    GenerateSettings settings =
        new GenerateSettings(
            Optional.empty(),
            Optional.of("big"),
            Optional.of("K"),
            2,
            Duration.ofMillis(300),
            2,
            0,
            new Tokens(100_000, 100_000),
            Optional.empty());

    JsonObject metrics = generate(requests(2, ""), where("run", Share.ALL), settings).metrics();

    assertThat(metrics.number("rows_out")).isEqualTo(2);
    assertThat(metrics.number("api_unknown_requests")).isEqualTo(2);
    assertThat(metrics.number("api_unknown_output_tokens")).isEqualTo(80);
  }

  /** What a crash leaves: a line that is cut at any byte. */
  @Test
  void aLogThatIsCutAnywhereLosesOneAnswerAtMost() throws IOException {
    Path file = requests(6, "");
    generate(file, "run");
    Path log = folder.resolve("cache/run/00000-00000.jsonl");
    byte[] bytes = Files.readAllBytes(log);
    byte[] answers = Files.readAllBytes(folder.resolve("run/answers-00000.jsonl"));
    Random random = new Random(7);
    for (int round = 0; round < 12; round++) {
      int cut = random.nextInt(bytes.length);
      Files.deleteIfExists(folder.resolve("cache/run/00000-00001.jsonl"));
      Files.write(log, Arrays.copyOf(bytes, cut));
      String kept = Files.readString(log);
      String whole = kept.substring(0, kept.lastIndexOf('\n') + 1);
      int complete = (int) whole.lines().filter(line -> line.startsWith("{\"key\"")).count();
      int before = teacher.generated.get();

      assertThat(generate(file, "run").failure()).isEmpty();

      assertThat(teacher.generated.get() - before).isBetween(5 - complete, 6 - complete);
      assertThat(Files.readAllBytes(folder.resolve("run/answers-00000.jsonl"))).isEqualTo(answers);
    }
  }
}
