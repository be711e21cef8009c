package dev.nexa.slurm.data.collect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random batches, against a join that holds everything in maps. */
class BatchJoinTest {
  @TempDir Path folder;

  private final Random random = new Random(14);

  /** What a request came to, or why a line was left out. */
  private static final class Seen implements BatchJoin.Handler {
    private final Map<String, String> requests = new LinkedHashMap<>();
    private int ignored;

    @Override
    public void answered(BatchRequest request, BatchAnswer answer) {
      requests.put(request.customId(), "text " + answer.choices().get(0).text());
    }

    @Override
    public void failed(BatchRequest request, String line, String reason) {
      requests.put(request.customId(), "failed " + reason);
      assertThat(BatchRequest.parse(line)).hasToString(request.toString());
    }

    @Override
    public void missing(BatchRequest request, String line) {
      requests.put(request.customId(), "missing");
    }

    @Override
    public void ignored(String place, Optional<String> id, String reason) {
      ignored++;
    }
  }

  @Test
  void eachRequestComesToWhatTheFirstOfItsLinesSays() throws IOException {
    for (int round = 0; round < 150; round++) {
      List<String> ids = ids(random.nextInt(40));
      List<List<String>> answers = answers(ids);
      List<Path> files = new ArrayList<>();
      for (int i = 0; i < answers.size(); i++) {
        files.add(write("answers-" + i + ".jsonl", answers.get(i)));
      }
      int cut = ids.isEmpty() ? 0 : random.nextInt(ids.size());
      List<Path> requests =
          List.of(
              write("a.jsonl", ids.subList(0, cut).stream().map(BatchJoinTest::request).toList()),
              write(
                  "b.jsonl",
                  ids.subList(cut, ids.size()).stream().map(BatchJoinTest::request).toList()));

      Seen seen = new Seen();
      JoinCounts counts = BatchJoin.run(requests, files, seen);

      Map<String, String> expected = expected(ids, answers);
      assertThat(seen.requests).as("round " + round).isEqualTo(expected);
      assertThat(new ArrayList<>(seen.requests.keySet())).isEqualTo(ids);
      assertThat(counts.answered() + counts.failed() + counts.missing())
          .isEqualTo(counts.requests())
          .isEqualTo(ids.size());
      long lines = answers.stream().flatMap(List::stream).filter(it -> !it.isBlank()).count();
      long left = counts.unreadable() + counts.unknown() + counts.repeated();
      assertThat(counts.answered() + counts.failed() + left).isEqualTo(lines);
      assertThat(seen.ignored).isEqualTo((int) left);
    }
  }

  private List<String> ids(int count) {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ids.add(List.of("id-", "größe ", "\"q\"\\", "😀").get(random.nextInt(4)) + i);
    }
    Collections.shuffle(ids, random);
    return ids;
  }

  private static String request(String id) {
    JsonObject message = new JsonObject().with("role", "user").with("content", "line\nof " + id);
    return Json.compact(
        new JsonObject()
            .with("custom_id", id)
            .with("method", "POST")
            .with("url", "/v1/chat/completions")
            .with("body", new JsonObject().with("model", "m").with("messages", List.of(message))));
  }

  private List<List<String>> answers(List<String> ids) {
    List<String> all = new ArrayList<>();
    for (String id : ids) {
      for (int i = random.nextInt(4); i > 0; i--) {
        all.add(answer(id));
      }
    }
    for (int i = random.nextInt(4); i > 0; i--) {
      all.add(answer("nobody-" + i));
      all.add("{\"custom_id\":\"id-1\",\"respon");
      all.add("   ");
      all.add("[]");
    }
    Collections.shuffle(all, random);
    int cut = all.isEmpty() ? 0 : random.nextInt(all.size());
    return List.of(all.subList(0, cut), all.subList(cut, all.size()));
  }

  private String answer(String id) {
    JsonObject json = new JsonObject().with("id", "vllm-1").with("custom_id", id);
    int kind = random.nextInt(6);
    JsonObject error = new JsonObject().with("message", "too long").with("code", 400);
    return Json.compact(
        switch (kind) {
          case 0 -> json.with("response", null).with("error", "boom " + random.nextInt());
          case 1 -> json.with("error", new JsonObject().with("error", error));
          case 2 -> json.with("error", null).with("response", response(500, id));
          default -> json.with("response", response(200, id)).with("error", null);
        });
  }

  private JsonObject response(int status, String id) {
    String text = "x".repeat(random.nextInt(20) == 0 ? 20_000 : 3) + random.nextInt() + id;
    JsonObject choice =
        new JsonObject()
            .with("index", 0)
            .with("message", new JsonObject().with("role", "assistant").with("content", text))
            .with("finish_reason", "stop");
    return new JsonObject()
        .with("status_code", status)
        .with("body", new JsonObject().with("choices", List.of(choice)));
  }

  /** The definition: everything in maps, by the words of the format. */
  private static Map<String, String> expected(List<String> ids, List<List<String>> answers) {
    Map<String, String> texts = new LinkedHashMap<>();
    Map<String, String> failures = new LinkedHashMap<>();
    for (String line : answers.stream().flatMap(List::stream).toList()) {
      if (!line.startsWith("{") || !line.endsWith("}")) {
        continue;
      }
      JsonObject json = Json.parseObject(line);
      String id = json.text("custom_id");
      Object error = json.members().get("error");
      Optional<JsonObject> response = json.optionalObject("response");
      if (error instanceof String text) {
        failures.putIfAbsent(id, "failed " + text);
      } else if (error instanceof JsonObject) {
        failures.putIfAbsent(id, "failed 400: too long");
      } else if (response.orElseThrow().number("status_code") != 200) {
        failures.putIfAbsent(id, "failed status 500: no message");
      } else {
        JsonObject choice = response.get().object("body").objects("choices").get(0);
        texts.putIfAbsent(id, "text " + choice.object("message").text("content"));
      }
    }
    Map<String, String> expected = new LinkedHashMap<>();
    for (String id : ids) {
      expected.put(id, texts.getOrDefault(id, failures.getOrDefault(id, "missing")));
    }
    return expected;
  }

  private Path write(String name, List<String> lines) throws IOException {
    String end = random.nextBoolean() && !lines.isEmpty() ? "\n" : "";
    return Files.writeString(folder.resolve(name), String.join("\n", lines) + end);
  }
}
