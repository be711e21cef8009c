package dev.nexa.slurm.data.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Backoff;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Share;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Conversations, a server that speaks as vLLM does, and the rows that axolotl reads. */
class LogprobsTest {
  private static final int TOP = 5;
  private static final Tokens ENOUGH = new Tokens(1_000_000, 1_000);

  @TempDir Path folder;
  private FakeVllm vllm;
  private Engine engine;

  @BeforeEach
  void begin() throws IOException {
    vllm = new FakeVllm();
    engine = Engine.open(new Limits(256L << 20, 1, folder.resolve("scratch")));
  }

  @AfterEach
  void end() {
    engine.close();
    vllm.close();
  }

  private static String conversation(String question, String answer) {
    return Json.compact(
        new JsonObject()
            .with(
                "messages",
                List.of(
                    new JsonObject().with("role", "user").with("content", question),
                    new JsonObject().with("role", "assistant").with("content", answer))));
  }

  private Path conversations(String... lines) throws IOException {
    return Files.write(folder.resolve("conversations-00000.jsonl"), List.of(lines));
  }

  private GenerateSettings settings(Tokens limit) {
    return new GenerateSettings(
        Optional.of(vllm.url()),
        Optional.of("big"),
        Optional.empty(),
        4,
        Duration.ofSeconds(60),
        3,
        1,
        limit,
        Optional.of(TOP));
  }

  private Generate.Result ask(Path file, String run, Share share, GenerateSettings settings) {
    Backoff fast = new Backoff(Duration.ofMillis(1), Duration.ofMillis(20), () -> 1);
    return new Generate(
            new Generate.Where(
                folder.resolve(run), Optional.of(folder.resolve("cache")), run, share, ""),
            new Generate.Server(vllm.url(), Optional.empty(), Optional.empty(), Optional.empty()),
            settings,
            fast,
            new Generate.Listener(metrics -> {}, line -> {}))
        .run(
            ConversationRequests.of(
                engine, List.of(file.toString()), settings, engine.folder(), share));
  }

  private Generate.Result ask(Path file) {
    return ask(file, "run", Share.ALL, settings(ENOUGH));
  }

  private List<JsonObject> lines(String file) throws IOException {
    return Files.readAllLines(folder.resolve(file)).stream().map(Json::parseObject).toList();
  }

  private List<JsonObject> rows() throws IOException {
    return lines("run/logprobs/logprobs-00000.jsonl");
  }

  /** Checks that entry i is about the token after token i, the most probable token first. */
  private static void requireWhole(JsonObject row, int tokens) {
    List<List<BigDecimal>> ids = entries(row, "target_token_ids");
    List<List<BigDecimal>> logprobs = entries(row, "logprobs");
    assertThat(ids).hasSize(tokens);
    assertThat(logprobs).hasSize(tokens);
    for (int i = 0; i < tokens; i++) {
      for (int k = 0; k < TOP; k++) {
        assertThat(ids.get(i).get(k)).isEqualByComparingTo("" + (1000 * (i + 1) + k));
        assertThat(logprobs.get(i).get(k)).isEqualByComparingTo("" + -(k + 1));
      }
      assertThat(ids.get(i)).hasSize(TOP);
      assertThat(logprobs.get(i)).hasSize(TOP);
    }
  }

  @SuppressWarnings("unchecked")
  private static List<List<BigDecimal>> entries(JsonObject row, String name) {
    return (List<List<BigDecimal>>) row.members().get(name);
  }

  private static void requireSum(JsonObject metrics) {
    assertThat(metrics.number("rows_in"))
        .isEqualTo(
            metrics.number("rows_out")
                + metrics.number("rows_rejected")
                + metrics.number("rows_missing"));
  }

  @Test
  void eachTokenGetsTheMostProbableTokensThatFollowIt() throws IOException {
    Path file = conversations(conversation("why", "so"), conversation("a longer question", "yes"));

    Generate.Result result = ask(file);

    assertThat(result.failure()).isEmpty();
    List<JsonObject> rows = rows();
    assertThat(rows).hasSize(2);
    requireWhole(rows.get(0), 5);
    requireWhole(rows.get(1), 20);
    assertThat(Json.compact(rows.get(0).members().get("messages")))
        .isEqualTo(
            "[{\"role\":\"user\",\"content\":\"why\"},{\"role\":\"assistant\",\"content\":\"so\"}]");
    assertThat(rows.get(0).members()).containsOnlyKeys("messages", "logprobs", "target_token_ids");
    assertThat(Files.readString(folder.resolve("run/logprobs/logprobs-00000.jsonl")))
        .contains("\"logprobs\":[[-1.0,-2.0");
    JsonObject metrics = result.metrics();
    assertThat(metrics.number("rows_out")).isEqualTo(2);
    assertThat(metrics.number("api_input_tokens")).isEqualTo(25);
    assertThat(metrics.number("api_output_tokens")).isEqualTo(2);
    requireSum(metrics);
  }

  @Test
  void aFileOfTheFilterIsReadAndAnotherRunPaysForNothingAgain() throws IOException {
    Path jsonl = conversations(conversation("why", "so"), conversation("how", "thus"));
    Path parquet = folder.resolve("conversations-00000.parquet");
    engine.write("SELECT messages FROM read_json('" + jsonl + "')", parquet, "FORMAT parquet");

    ask(parquet);
    Generate.Result second = ask(parquet, "second", Share.ALL, settings(ENOUGH));

    assertThat(vllm.asked.get()).isEqualTo(2);
    assertThat(second.metrics().number("answers_cached")).isEqualTo(2);
    assertThat(second.metrics().number("api_input_tokens")).isZero();
    assertThat(folder.resolve("second/logprobs/logprobs-00000.jsonl"))
        .hasSameTextualContentAs(folder.resolve("run/logprobs/logprobs-00000.jsonl"));
  }

  @Test
  void theKeptFileHoldsOnlyWhatTheRowsNeed() throws IOException {
    ask(conversations(conversation("why", "so")));

    try (Stream<Path> kept = Files.walk(folder.resolve("cache"))) {
      Path log = kept.filter(Files::isRegularFile).findFirst().orElseThrow();
      assertThat(Files.readString(log)).doesNotContain("decoded_token", "token_id");
      // 5 tokens with 5 successors of 8 bytes, in Base64, and less than 300 bytes around them.
      assertThat(Files.size(log)).isLessThan(5 * 5 * 8 * 4 / 3 + 400);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "long conversation | refused | the context is full",
        "few of them | no log-probabilities | position 3 of the prompt has 4 log-probabilities, expected 5",
        "less positions | no log-probabilities | prompt_logprobs has 16 positions, but the prompt has 17 tokens",
        "openai | no log-probabilities | the answer has no prompt_logprobs; only vLLM's server returns them",
      })
  void whatDoesNotFitIsRejectedWithItsReason(String answer, String reason, String detail)
      throws IOException {
    Path file = conversations(conversation("why", "so"), conversation("why", answer));

    Generate.Result result = ask(file);

    assertThat(result.failure()).isEmpty();
    assertThat(rows()).hasSize(1);
    JsonObject reject = lines("run/rejects-00000.jsonl").get(0);
    assertThat(reject.text("place")).isEqualTo(file + ":2");
    assertThat(reject.text("reason")).isEqualTo(reason);
    assertThat(reject.text("detail")).isEqualTo(detail);
    requireSum(result.metrics());
  }

  @Test
  void rowsThatAreNoConversationAreRejectedByOneTask() throws IOException {
    Path file =
        conversations(
            conversation("why", "so"),
            "{\"messages\": []}",
            "{\"messages\": \"none\"}",
            "{\"other\": 1}",
            "no JSON",
            "{\"messages\": [{\"role\": \"user\", \"content\": \"why\"}]}",
            "{\"messages\": [{\"role\": \"assistant\", \"content\": null}]}",
            "{\"messages\": [{\"role\": \"assistant\", \"content\": \"a\", \"name\": null}]}",
            "{\"messages\": [{\"role\": \"assistant\", \"content\": \"a\", \"tool_calls\": [1]}]}");
    List<String> details = new ArrayList<>();
    long in = 0;
    long out = 0;
    for (int task = 0; task < 2; task++) {
      JsonObject metrics = ask(file, "run", new Share(task, 2), settings(ENOUGH)).metrics();
      in += metrics.number("rows_in");
      out += metrics.number("rows_out");
      requireSum(metrics);
      lines(String.format("run/rejects-%05d.jsonl", task))
          .forEach(reject -> details.add(reject.text("detail")));
    }

    assertThat(in).isEqualTo(9);
    assertThat(out).isEqualTo(2);
    assertThat(details)
        .containsExactlyInAnyOrder(
            "messages is no list of messages",
            "messages is no list of messages",
            "column messages: missing",
            "broken JSON",
            "the last message is of 'user', not of 'assistant'",
            "message 1 has no role and content that are texts",
            "message 1 has 'tool_calls'; only role and content are read");
  }

  @ParameterizedTest
  @ValueSource(strings = {"busy", "cut", "silent"})
  void aTryWithoutAnAnswerIsSentAgain(String fault) throws IOException {
    GenerateSettings usual = settings(ENOUGH);
    GenerateSettings settings =
        new GenerateSettings(
            usual.url(),
            usual.model(),
            usual.apiKey(),
            1,
            Duration.ofSeconds(fault.equals("silent") ? 2 : 60),
            20,
            1,
            ENOUGH,
            Optional.of(TOP));

    Generate.Result result =
        ask(conversations(conversation("why", fault + " once")), "run", Share.ALL, settings);

    assertThat(result.failure()).isEmpty();
    assertThat(rows()).hasSize(1);
    assertThat(vllm.asked.get()).isGreaterThanOrEqualTo(2);
  }

  @Test
  void aRequestCountsItsBytesAndOneTokenSoALimitStopsItOnlyWhenItIsReached() throws IOException {
    Path file = conversations(conversation("why", "so"), conversation("how", "thus"));

    Generate.Result enough = ask(file, "run", Share.ALL, settings(new Tokens(2_000, 2)));
    assertThat(enough.failure()).isEmpty();

    FakeVllm before = vllm;
    vllm = new FakeVllm();
    before.close();
    Generate.Result limited = ask(file, "limited", Share.ALL, settings(new Tokens(2_000, 1)));
    assertThat(limited.failure())
        .containsInstanceOf(NexaException.class)
        .map(failure -> ((NexaException) failure).code())
        .contains(ErrorCode.TOKEN_LIMIT_REACHED);
    assertThat(vllm.asked.get()).isEqualTo(1);

    Generate.Result rest = ask(file, "limited", Share.ALL, settings(new Tokens(2_000, 2)));
    assertThat(rest.failure()).isEmpty();
    assertThat(vllm.asked.get()).isEqualTo(2);
    assertThat(rest.metrics().number("api_output_tokens")).isEqualTo(2);
  }

  @Test
  void aModelMustBeNamed() throws IOException {
    Path file = conversations(conversation("why", "so"));
    GenerateSettings usual = settings(ENOUGH);
    GenerateSettings none =
        new GenerateSettings(
            usual.url(),
            Optional.empty(),
            usual.apiKey(),
            1,
            usual.timeout(),
            1,
            1,
            ENOUGH,
            usual.logprobs());

    assertThatThrownBy(() -> ask(file, "run", Share.ALL, none))
        .hasMessageContaining("no model is named: a conversation does not name one");
  }

  @Test
  void aVerySmallProbabilityIsNotZeroIn32Bits() {
    TopLogprobs found = new TopLogprobs(2);
    found.add(new int[] {8, 9}, new float[] {-9999, -0.001f});
    StringBuilder text = new StringBuilder();
    TopLogprobs.of(found.toJson()).appendLogprobs(text);

    assertThat(text).hasToString("[[-0.001,-40.0]]");
  }

  @Test
  void manyEntriesAreKeptInOrder() {
    TopLogprobs found = new TopLogprobs(1);
    for (int i = 0; i < 1000; i++) {
      found.add(new int[] {1, 70_000 + i}, new float[] {-2, -1});
    }
    StringBuilder text = new StringBuilder();
    TopLogprobs.of(found.toJson()).appendTokens(text);

    assertThat(found.size()).isEqualTo(1000);
    assertThat(text).startsWith("[[70000],[70001],").endsWith(",[70999]]");
  }
}
