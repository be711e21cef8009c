package dev.nexa.slurm.data.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Share;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers in every form that vLLM and OpenAI write, in any order: none is lost or invented. */
class CollectTest {
  @TempDir Path folder;

  private Engine engine() {
    return Engine.open(new Limits(512L << 20, 2, folder.resolve("scratch")));
  }

  private JsonObject collect(String settings, int task, int tasks) {
    try (Engine engine = engine()) {
      Share share = tasks == 1 ? Share.ALL : new Share(task, tasks);
      return new Collect(engine, CollectSettings.of(Json.parseObject(settings)), share)
          .run(
              List.of(folder.resolve("requests.jsonl").toString()),
              List.of(folder.resolve("answers.jsonl").toString()),
              folder.resolve("out"));
    }
  }

  private List<List<String>> rows(String start, String select) throws IOException {
    List<List<String>> rows = new ArrayList<>();
    try (Engine engine = engine();
        var files = Files.list(folder.resolve("out"))) {
      for (Path file : files.sorted().toList()) {
        if (file.getFileName().toString().startsWith(start)) {
          rows.addAll(engine.rows("SELECT " + select + " FROM '" + file + "'"));
        }
      }
    }
    return rows;
  }

  private static String request(String id) {
    return "{\"custom_id\":\""
        + id
        + "\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q "
        + id
        + "\"}]}}";
  }

  private static String answer(String id, String text, String finish) {
    return "{\"id\":\"vllm-1\",\"custom_id\":\""
        + id
        + "\",\"response\":{\"status_code\":200,\"request_id\":\"r\",\"body\":{\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
        + text
        + "},\"finish_reason\":\""
        + finish
        + "\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":5}}},\"error\":null}";
  }

  @Test
  void eachFormOfAnAnswer() throws IOException {
    List<String> requests = new ArrayList<>();
    for (String id :
        List.of(
            "good", "cut", "text", "object", "openai", "status", "null", "none", "again", "good")) {
      requests.add(request(id));
    }
    requests.add("{\"custom_id\":");
    Files.writeString(folder.resolve("requests.jsonl"), String.join("\n", requests));
    List<String> answers =
        List.of(
            answer("stranger", "\"x\"", "stop"),
            answer("again", "null", "stop"),
            answer("cut", "\"half\"", "length"),
            "{\"id\":\"v\",\"custom_id\":\"text\",\"response\":{\"status_code\":400,\"body\":null},\"error\":\"too long\"}",
            "{\"id\":\"v\",\"custom_id\":\"object\",\"response\":{\"status_code\":400,\"body\":null},\"error\":{\"error\":{\"message\":\"no model\",\"type\":\"t\",\"param\":null,\"code\":404}}}",
            "{\"id\":\"v\",\"custom_id\":\"openai\",\"response\":null,\"error\":{\"code\":\"expired\",\"message\":\"late\"}}",
            "{\"id\":\"v\",\"custom_id\":\"status\",\"response\":{\"status_code\":500,\"body\":{\"error\":{\"message\":\"oops\"}}},\"error\":null}",
            answer("null", "null", "stop"),
            answer("good", "\"It's \\\"fine\\\"\\n\"", "stop"),
            answer("again", "\"second\"", "stop"),
            "{\"id\":\"v\",\"custom_id\":\"none\",\"respon");
    Files.writeString(folder.resolve("answers.jsonl"), String.join("\n", answers));

    JsonObject metrics = collect("{}", 0, 1);

    assertThat(metrics.number("rows_in")).isEqualTo(11);
    assertThat(metrics.number("rows_out")).isEqualTo(3);
    assertThat(metrics.number("rows_rejected")).isEqualTo(8);
    assertThat(metrics.number("answers_broken")).isEqualTo(1);
    assertThat(metrics.number("answers_repeated")).isEqualTo(1);
    assertThat(metrics.number("completion_tokens")).isEqualTo(15);
    assertThat(rows("generated", "custom_id, answer, truncated"))
        .containsExactlyInAnyOrder(
            List.of("good", "It's \"fine\"\n", "false"),
            List.of("cut", "half", "true"),
            List.of("again", "second", "false"));
    assertThat(rows("rejects", "custom_id, reason, detail"))
        .containsExactlyInAnyOrder(
            List.of("text", "failed", "too long"),
            List.of("object", "failed", "no model"),
            List.of("openai", "failed", "late"),
            List.of("status", "failed", "status 500: oops"),
            List.of("null", "failed", "no text in the answer"),
            List.of("none", "missing", ""),
            List.of("good", "duplicate id", "as " + folder.resolve("requests.jsonl") + " row 1"),
            List.of("", "broken", "broken JSON"));
    List<String> next = Files.readAllLines(folder.resolve("out/requests-00000.jsonl"));
    assertThat(next).hasSize(6).contains(request("none"), request("status"));

    assertThat(collect("{\"truncated\": \"reject\"}", 0, 1).number("rows_out")).isEqualTo(2);
    assertThat(Files.readAllLines(folder.resolve("out/requests-00000.jsonl")))
        .contains(request("cut"));
    assertThatThrownBy(() -> collect("{\"max_failed\": 0.5}", 0, 1))
        .hasMessageContaining(
            "6 of 11 requests have no answer, more than max_failed, which is 0.5");
  }

  @Test
  void theOrderAndTheNumberOfTasksDoNotMatter() throws IOException {
    Random random = new Random(8);
    List<String> requests = new ArrayList<>();
    List<String> answers = new ArrayList<>();
    List<List<String>> expected = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      requests.add(request("r" + i));
      if (random.nextInt(10) > 0) {
        answers.add(answer("r" + i, "\"a" + i + "\"", "stop"));
        expected.add(List.of("r" + i, "a" + i));
      }
    }
    Collections.shuffle(answers, random);
    Files.writeString(folder.resolve("requests.jsonl"), String.join("\n", requests));
    Files.writeString(folder.resolve("answers.jsonl"), String.join("\n", answers));

    long in = 0;
    for (int task = 0; task < 3; task++) {
      in += collect("{}", task, 3).number("rows_in");
    }

    assertThat(in).isEqualTo(300);
    assertThat(rows("generated", "custom_id, answer"))
        .containsExactlyInAnyOrderElementsOf(expected);
    assertThat(rows("requests", "custom_id")).hasSize(300 - expected.size());
  }
}
