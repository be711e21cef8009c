package dev.nexa.slurm.data.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CollectTest {
  private static final Collect.Options ALL = new Collect.Options(true, 1);

  @TempDir Path folder;

  @Test
  void vllmsThreeFormsOfALineAreRead() throws IOException {
    Path requests = lines("in.jsonl", request("a"), request("b"), request("c"), request("d"));
    Path answers =
        lines(
            "out.jsonl",
            // As vLLM's run_batch.py writes a success, a refused request and an exception.
            "{\"id\":\"vllm-1\",\"custom_id\":\"c\",\"response\":{\"status_code\":200,"
                + "\"request_id\":\"vllm-batch-1\",\"body\":{\"id\":\"x\",\"model\":\"m\","
                + "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"C\","
                + "\"reasoning_content\":\"why\"},\"finish_reason\":\"length\"}],"
                + "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}},\"error\":null}",
            "{\"id\":\"vllm-2\",\"custom_id\":\"a\",\"response\":{\"status_code\":400,"
                + "\"body\":null},\"error\":{\"error\":{\"message\":\"too long\","
                + "\"type\":\"BadRequestError\",\"param\":null,\"code\":400}}}",
            "{\"id\":\"vllm-3\",\"custom_id\":\"b\",\"response\":null,\"error\":\"no such URL\"}");

    Collect.Result result = Collect.run(List.of(requests), List.of(answers), rows(), folder, ALL);

    assertThat(json("rows.jsonl"))
        .hasSize(1)
        .allSatisfy(
            row -> {
              assertThat(row.text("custom_id")).isEqualTo("c");
              assertThat(row.text("completion")).isEqualTo("C");
              assertThat(row.text("prompt")).isEqualTo("ask c");
              assertThat(row.text("reasoning")).isEqualTo("why");
              assertThat(row.flag("truncated")).isTrue();
              assertThat(row.members().keySet())
                  .containsExactlyElementsOf(CollectedRow.columns().keySet());
            });
    assertThat(json("rejects.jsonl"))
        .extracting(row -> row.text("custom_id") + ": " + row.text("reason"))
        .containsExactly("a: 400: too long", "b: no such URL");
    assertThat(Files.readAllLines(folder.resolve("missing.jsonl"))).containsExactly(request("d"));
    assertThat(Files.readAllLines(folder.resolve("failed.jsonl")))
        .containsExactly(request("a"), request("b"));
    assertThat(Json.compact(result.metrics()))
        .isEqualTo(
            "{\"rows_in\":4,\"rows_out\":1,\"rows_rejected\":2,\"rows_missing\":1,"
                + "\"answers_unreadable\":0,\"answers_without_request\":0,\"answers_repeated\":0,"
                + "\"texts\":1,\"texts_truncated\":1,\"texts_empty\":0,\"prompt_tokens\":3,"
                + "\"completion_tokens\":2}");
  }

  @Test
  void aByteOrderMarkIsNoPartOfTheFirstLine() throws IOException {
    Path requests = lines("in.jsonl", "\ufeff" + request("a"), request("b"));
    Path answers =
        lines("out.jsonl", "\ufeff" + answer("a", "A", "stop"), answer("b", "B", "stop"));

    Collect.Result result = Collect.run(List.of(requests), List.of(answers), rows(), folder, ALL);

    assertThat(result.out()).isEqualTo(2);
    assertThat(json("rows.jsonl"))
        .extracting(row -> row.text("completion"))
        .containsExactly("A", "B");
  }

  @Test
  void theNextBatchIsTheMissingRequestsAndBothAreCollectedTogether() throws IOException {
    Path requests = lines("in.jsonl", request("a"), request("b"), request("c"));
    Path first = lines("out.jsonl", answer("b", "B", "stop"));
    Collect.run(List.of(requests), List.of(first), rows(), folder, ALL);
    assertThat(Files.readAllLines(folder.resolve("missing.jsonl")))
        .containsExactly(request("a"), request("c"));

    Path second = lines("out-2.jsonl", answer("c", "C", "stop"), answer("a", "A", "stop"));
    Collect.Result both =
        Collect.run(List.of(requests), List.of(first, second), rows(), folder, ALL);

    assertThat(json("rows.jsonl"))
        .extracting(row -> row.text("completion"))
        .containsExactly("A", "B", "C");
    assertThat(both.counts().missing()).isZero();
    assertThat(Files.readString(folder.resolve("missing.jsonl"))).isEmpty();
  }

  @Test
  void cutAnswersCanBeRejectedAndTooManyLostRequestsAreAnError() throws IOException {
    Path requests = lines("in.jsonl", request("a"), request("b"));
    Path answers = lines("out.jsonl", answer("a", "A", "length"), answer("b", "B", "stop"));
    Collect.Options strict = new Collect.Options(false, 0.4);

    Collect.Result result =
        Collect.run(List.of(requests), List.of(answers), rows(), folder, strict);

    assertThat(json("rows.jsonl")).extracting(row -> row.text("custom_id")).containsExactly("b");
    assertThatThrownBy(() -> result.require(strict, folder))
        .isInstanceOf(NexaException.class)
        .hasMessage(
            "1 of 2 requests have no row: 1 were rejected and 0 are missing; max_lost is 0.4");
    result.require(new Collect.Options(false, 0.5), folder);
  }

  @Test
  void aFailedRunLeavesTheFilesOfTheLastOne() throws IOException {
    Path requests = lines("in.jsonl", request("a"));
    Path answers = lines("out.jsonl", answer("a", "A", "stop"));
    Collect.run(List.of(requests), List.of(answers), rows(), folder, ALL);
    String before = Files.readString(rows());
    lines("in.jsonl", request("a"), "{");

    assertThatThrownBy(() -> Collect.run(List.of(requests), List.of(answers), rows(), folder, ALL))
        .isInstanceOf(NexaException.class);

    assertThat(Files.readString(rows())).isEqualTo(before);
    try (var files = Files.list(folder)) {
      assertThat(files.map(it -> it.getFileName().toString()).filter(it -> it.endsWith(".tmp")))
          .isEmpty();
    }
  }

  @Test
  void usedIdsAreAnErrorThatNamesBothLines() throws IOException {
    Path one = lines("one.jsonl", request("a"), "", request("b"));
    Path two = lines("two.jsonl", request("c"), request("b"));

    assertThatThrownBy(() -> RequestCheck.check(List.of(one, two)))
        .hasMessage(two + ":2: custom_id \"b\" is already used at " + one + ":3");
    assertThat(RequestCheck.check(List.of(one))).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{                                                            | Unexpected end-of-input: expected close marker for Object",
        "[]                                                           | expected a JSON object",
        "{\"custom_id\":\"a\",\"custom_id\":\"b\"}                    | Duplicate",
        "{\"custom_id\":7}                                            | custom_id: expected a string",
        "{\"custom_id\":\"\"}                                         | custom_id is empty",
        "{\"custom_id\":\"a\",\"method\":\"GET\"}                     | expected \"POST\"",
        "{\"url\":\"/v1/chat/completion\"}                            | did you mean '/v1/chat/completions'",
        "{\"body\":[]}                                                | body: expected an object",
        "{\"body\":{}}                                                | body.model is missing",
        "{\"url\":\"/v1/chat/completions\",\"body\":{}}               | body.messages: expected",
        "{\"url\":\"/v1/chat/completions\",\"body\":{\"messages\":[3]}} | body.messages[0]",
        "{\"body\":{\"stream\":true}}                                 | cannot stream",
        "{\"body\":{\"max_tokens\":\"5\"}}                            | body.max_tokens: expected",
        "{\"body\":{\"n\":1.5}}                                       | body.n: expected",
        "{\"body\":{\"temperature\":-1}}                              | body.temperature: expected",
      })
  void anInvalidLineIsNamed(String line, String problem) throws IOException {
    Path file = lines("in.jsonl", request("a"), line);

    assertThatThrownBy(() -> RequestCheck.check(List.of(file)))
        .isInstanceOf(NexaException.class)
        .hasMessageStartingWith(file + ":2: ")
        .hasMessageContaining(problem);
  }

  @Test
  void linesThatAreNotUtf8OrTooLongAreNamed() throws IOException {
    byte[] latin = "{\"custom_id\":\"gr\u00f6\u00dfe\"}".getBytes(StandardCharsets.ISO_8859_1);
    Path file = Files.write(folder.resolve("latin.jsonl"), latin);
    assertThatThrownBy(() -> RequestCheck.check(List.of(file)))
        .hasMessage(file + ":1: the line is not UTF-8");

    Path requests = lines("in.jsonl", request("a"));
    Collect.Result result = Collect.run(List.of(requests), List.of(file), rows(), folder, ALL);
    assertThat(result.counts().unreadable()).isEqualTo(1);
    assertThat(result.counts().missing()).isEqualTo(1);
  }

  private Path rows() {
    return folder.resolve("rows.jsonl");
  }

  private static String request(String id) {
    return "{\"custom_id\":\""
        + id
        + "\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{\"model\":\"m\","
        + "\"messages\":[{\"role\":\"user\",\"content\":\"ask "
        + id
        + "\"}]}}";
  }

  private static String answer(String id, String text, String finish) {
    return "{\"id\":\"v\",\"custom_id\":\""
        + id
        + "\",\"response\":{\"status_code\":200,\"body\":{\"choices\":[{\"index\":0,"
        + "\"message\":{\"content\":\""
        + text
        + "\"},\"finish_reason\":\""
        + finish
        + "\"}]}},\"error\":null}";
  }

  private Path lines(String name, String... lines) throws IOException {
    return Files.writeString(folder.resolve(name), String.join("\n", lines) + "\n");
  }

  private List<JsonObject> json(String name) throws IOException {
    return Files.readAllLines(folder.resolve(name)).stream().map(Json::parseObject).toList();
  }
}
