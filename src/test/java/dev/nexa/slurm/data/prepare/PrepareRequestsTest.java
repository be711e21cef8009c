package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.RequestCheck;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code prepare} keeps as a request, the step that sends it accepts. */
class PrepareRequestsTest {
  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "\u0000",
          "a",
          "A",
          "\u0001\u001f",
          "\ufeff",
          "\u2028",
          "\u00a0",
          "e\u0301",
          "\u00e9",
          "\"",
          "\\",
          "\ud83d\ude00",
          "{}",
          "null",
          "\ufffe",
          "'; --",
          "%s",
          "1",
          "1.0",
          "-0",
          "\u200b");

  @TempDir Path folder;
  private PrepareBench bench;

  @BeforeEach
  void bench() {
    bench = new PrepareBench(folder);
  }

  private static String settings(String type, String more) {
    return "{\"columns\":{\"id\":\""
        + type
        + "\",\"text\":\"text\"},\"text\":[\"text\"],\"id\":\"id\""
        + more
        + "}";
  }

  private static final String REQUESTS =
      ",\"min_chars\":0,\"exact_duplicates\":false,\"requests\":{\"model\":\"m\",\"prompt\":\"{id} {text}\"}";

  private static Object value(Random random) {
    return switch (random.nextInt(9)) {
      case 0 -> random.nextInt(4) - 2;
      case 1 -> random.nextBoolean();
      case 2 -> List.of(TEXTS.get(random.nextInt(TEXTS.size())));
      case 3 -> new JsonObject();
      case 4 -> new BigDecimal("1e400");
      default ->
          TEXTS.get(random.nextInt(TEXTS.size()))
              + (random.nextBoolean() ? random.nextInt(50) : "");
    };
  }

  private static String line(Random random) {
    JsonObject row = new JsonObject();
    if (random.nextInt(9) > 0) {
      row.with("id", random.nextInt(12) == 0 ? null : value(random));
    }
    row.with("text", random.nextInt(3) == 0 ? value(random) : "text " + random.nextInt(90));
    String line = Json.compact(row);
    return switch (random.nextInt(25)) {
      case 0 -> line.replace("text", "te\\ud800xt");
      case 1 -> line.substring(0, line.length() / 2);
      case 2 -> line.replace("\"id\":", "\"id\":\"first\",\"id\":");
      default -> line;
    };
  }

  static List<String> types() {
    return List.of("text", "text?", "integer?", "number?", "boolean?", "json?");
  }

  @ParameterizedTest
  @MethodSource("types")
  void whateverIsKeptIsARequest(String type) throws IOException {
    Random random = new Random(type.hashCode());
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 600; i++) {
      lines.append(line(random)).append('\n');
    }
    bench.file("in/a.jsonl", lines.toString().getBytes(StandardCharsets.UTF_8));

    JsonObject metrics = bench.run(settings(type, REQUESTS));

    assertThat(metrics.number("rows_out")).isPositive();
    assertThat(RequestCheck.check(bench.files("requests-"))).isEqualTo(metrics.number("rows_out"));
  }

  @Test
  void aRowWithoutAnIdIsARejectWithAReason() throws IOException {
    bench.file(
        "in/a.jsonl",
        "{\"id\":\"\",\"text\":\"one\"}\n{\"id\":\"\",\"text\":\"two\"}\n{\"text\":\"three\"}\n{\"id\":\"4\",\"text\":\"four\"}\n");

    JsonObject metrics = bench.run(settings("text?", REQUESTS));

    assertThat(metrics.number("rejected_empty_id")).isEqualTo(3);
    assertThat(bench.rejects()).contains(List.of("a.jsonl", "1", "", "empty id", ""));
    // Without requests, an optional id may be missing.
    assertThat(bench.run(settings("text?", "")).number("rejected_empty_id")).isEqualTo(2);
  }

  @Test
  void aRequestThatNoReaderTakesIsAReject() throws IOException {
    // Each of these bytes is six in JSON.
    String text = "\\u0001".repeat(1_500_000);
    bench.file(
        "in/a.jsonl", "{\"id\":\"1\",\"text\":\"" + text + "\"}\n{\"id\":\"2\",\"text\":\"x\"}\n");

    JsonObject metrics =
        bench.run(
            settings(
                "text",
                ",\"normalize\":false,\"requests\":{\"model\":\"m\",\"prompt\":\"{text}{text}\"}"));

    assertThat(metrics.number("rejected_request_too_long")).isEqualTo(1);
    assertThat(RequestCheck.check(bench.files("requests-"))).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"max_tokens\":0} | body.max_tokens: expected a whole number of at least 1",
        "{\"stream\":true} | body.stream is true",
        "{\"temperature\":-1} | body.temperature: expected a number of at least 0",
        "{\"n\":1.5} | body.n: expected a whole number of at least 1",
      })
  void optionsThatNoRequestMayHaveAreNamedBeforeARowIsRead(String options, String problem) {
    assertThatThrownBy(
            () ->
                bench.run(
                    settings(
                        "text",
                        ",\"requests\":{\"model\":\"m\",\"prompt\":\"{text}\",\"options\":"
                            + options
                            + "}")))
        .hasMessageContaining("data.prepare.requests: no request could be sent: " + problem);
  }

  /** Programs on Windows begin a file with it. */
  @ParameterizedTest
  @CsvSource({"a.jsonl, '\n'", "a.ndjson, '\r\n'"})
  void aByteOrderMarkIsNoPartOfTheFirstRow(String name, String end) throws IOException {
    bench.file(
        "in/" + name,
        "\ufeff{\"id\":\"1\",\"text\":\"one\"}" + end + "{\"id\":\"2\",\"text\":\"two\"}" + end);
    bench.file("in/b.csv", "\ufeffid,text\n3,three\n");
    bench.file(
        "in/c.jsonl", "\ufeff{\"id\":\"4\"" + end + "{\"id\":\"5\",\"text\":\"five\"}" + end);

    JsonObject metrics = bench.run(settings("text", ""));

    assertThat(bench.column("train", "id")).containsExactlyInAnyOrder("1", "2", "3", "5");
    assertThat(metrics.number("rejected_broken")).isEqualTo(1);
  }
}
