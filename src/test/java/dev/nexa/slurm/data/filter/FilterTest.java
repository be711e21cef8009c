package dev.nexa.slurm.data.filter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.job.config.steps.DataStage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each rejected row has a reason, and the kept rows are those of a second definition in Java. */
class FilterTest {
  private static final String COLUMNS =
      "{\"columns\": {\"id\": \"integer\", \"group\": \"text?\", \"a\": \"number?\", \"b\": \"number?\", \"text\": \"text?\"}";

  @TempDir Path folder;

  private Engine engine() {
    return Engine.open(new Limits(512L << 20, 2, folder.resolve("scratch")));
  }

  private JsonObject filter(String settings, int task, int tasks) {
    try (Engine engine = engine()) {
      Share share = tasks == 1 ? Share.ALL : new Share(task, tasks);
      return new Filter(
              engine,
              FilterSettings.of(DataStage.withDefaults("filter", Json.parseObject(settings))),
              share)
          .run(List.of(folder.resolve("in").toString()), folder.resolve("out"));
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

  private void input(List<JsonObject> rows, String more) throws IOException {
    StringBuilder lines = new StringBuilder();
    rows.forEach(row -> lines.append(Json.compact(row)).append('\n'));
    Files.createDirectories(folder.resolve("in"));
    Files.writeString(folder.resolve("in/a.jsonl"), lines + more);
  }

  @Test
  void rowsBecomeConversationsThatEndWithTheAnswer() throws IOException {
    String chat =
        "[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Why \\\"blue\\\"?\"}]";
    String picture = "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]";
    input(
        List.of(
            row(1, chat, "ignored", "Air."),
            row(2, null, "Why?", "Because."),
            row(3, chat, "", null),
            row(4, picture, "", "A cat."),
            row(5, null, null, "42"),
            row(6, "[{\"content\":\"no role\"}]", "", "x"),
            row(7, "{}", "", "x"),
            row(8, "[]", "", "x"),
            row(9, "no JSON", "Why?", "x")),
        "");

    JsonObject metrics =
        filter(
            "{\"columns\": {\"id\": \"integer\", \"messages\": \"text?\", \"prompt\": \"text?\","
                + " \"completion\": \"text?\"}, \"conversations\": true}",
            0,
            1);

    assertThat(rows("conversations", "to_json(messages)"))
        .containsExactlyInAnyOrder(
            List.of(chat.replace("}]", "},{\"role\":\"assistant\",\"content\":\"Air.\"}]")),
            List.of(
                "[{\"role\":\"user\",\"content\":\"Why?\"},{\"role\":\"assistant\",\"content\":\"Because.\"}]"));
    assertThat(rows("conversations", "typeof(messages)"))
        .allMatch(type -> type.equals(List.of("STRUCT(\"role\" VARCHAR, \"content\" VARCHAR)[]")));
    assertThat(rows("rejects", "id, reason, detail"))
        .containsExactlyInAnyOrder(
            List.of("3", "no conversation", "no completion"),
            List.of("4", "no conversation", "a message without a role and a text"),
            List.of("5", "no conversation", "no messages and no prompt"),
            List.of("6", "no conversation", "a message without a role and a text"),
            List.of("7", "no conversation", "messages is no list of messages"),
            List.of("8", "no conversation", "messages is no list of messages"),
            List.of("9", "no conversation", "messages is no list of messages"));
    assertThat(metrics.number("rows_out")).isEqualTo(2);
    assertThat(metrics.number("rejected_no_conversation")).isEqualTo(7);
  }

  @Test
  void aConversationNeedsNoMessagesIfThereIsAPrompt() throws IOException {
    input(List.of(row(1, null, "Why?", "Because."), row(2, null, null, "42")), "");

    filter(
        "{\"columns\": {\"id\": \"integer\", \"prompt\": \"text?\", \"completion\": \"text\"},"
            + " \"conversations\": true}",
        0,
        1);

    assertThat(rows("conversations", "to_json(messages)"))
        .containsExactly(
            List.of(
                "[{\"role\":\"user\",\"content\":\"Why?\"},{\"role\":\"assistant\",\"content\":\"Because.\"}]"));
    assertThat(rows("rejects", "id, detail"))
        .containsExactly(List.of("2", "no messages and no prompt"));
  }

  private static JsonObject row(int id, String messages, String prompt, String completion) {
    return new JsonObject()
        .with("id", id)
        .with("messages", messages)
        .with("prompt", prompt)
        .with("completion", completion);
  }

  @Test
  void eachRuleNamesWhatItFound() throws IOException {
    List<JsonObject> rows = new ArrayList<>();
    for (String text : List.of("fine text here", "no", "a a a a b", "?!?! x", "w ".repeat(30))) {
      rows.add(new JsonObject().with("id", rows.size()).with("a", rows.size()).with("text", text));
    }
    rows.add(new JsonObject().with("id", 5).with("a", -1).with("text", "one two three"));
    rows.add(new JsonObject().with("id", 6).with("text", "one two three"));
    rows.add(new JsonObject().with("id", "x").with("a", 1));
    input(rows, "{broken\n");

    JsonObject metrics =
        filter(
            COLUMNS
                + ", \"rules\": [{\"column\": \"a\", \"min\": 0}, {\"column\": \"text\", \"min_chars\": 3, \"max_words\": 20,"
                + " \"max_symbols\": 0.3, \"max_repeated\": 0.5}]}",
            0,
            1);

    assertThat(rows("filtered", "id")).containsExactly(List.of("0"));
    assertThat(rows("rejects", "row, reason, detail"))
        .containsExactly(
            List.of("2", "rule", "text 2 characters, min_chars is 3"),
            List.of("3", "rule", "text 0.6 repeated, max_repeated is 0.5"),
            List.of("4", "rule", "text 0.667 symbols, max_symbols is 0.3"),
            List.of("5", "rule", "text 30 words, max_words is 20"),
            List.of("6", "rule", "a -1.0, min is 0"),
            List.of("7", "rule", "a is missing"),
            List.of("8", "schema", "column id: expected integer, got \"x\""),
            List.of("9", "broken", "broken JSON"));
    assertThat(metrics.number("rows_in")).isEqualTo(9);
    assertThat(metrics.number("rows_out")).isEqualTo(1);
    assertThat(metrics.number("rows_rejected")).isEqualTo(8);
  }

  private static @Nullable Integer score(Random random) {
    return random.nextInt(10) == 0 ? null : random.nextInt(6);
  }

  @Test
  void agreementAndTheBestOfEachGroupAreThoseOfASecondDefinition() throws IOException {
    Random random = new Random(5);
    List<JsonObject> rows = new ArrayList<>();
    Map<String, TreeMap<String, Integer>> groups = new HashMap<>();
    for (int i = 0; i < 500; i++) {
      Integer a = score(random);
      Integer b = score(random);
      String group = random.nextInt(20) == 0 ? null : "g" + random.nextInt(60);
      rows.add(
          new JsonObject()
              .with("id", i)
              .with("group", group)
              .with("a", a)
              .with("b", b)
              .with("text", "t"));
      if (a != null && b != null && Math.abs(a - b) <= 1) {
        // The greatest `a` first, then the first row.
        String place = String.format("%d %03d", 9 - a, i);
        groups
            .computeIfAbsent(group == null ? "none" + i : group, none -> new TreeMap<>())
            .put(place, i);
      }
    }
    input(rows, "");
    List<String> expected = new ArrayList<>();
    groups
        .values()
        .forEach(
            places ->
                places.values().stream().limit(2).map(String::valueOf).forEach(expected::add));
    String settings =
        COLUMNS
            + ", \"agreement\": {\"columns\": [\"a\", \"b\"], \"max_difference\": 1},"
            + " \"best_of\": {\"key\": \"group\", \"by\": \"a\", \"keep\": 2}}";
    List<List<String>> first = List.of();
    for (int tasks : List.of(1, 3)) {
      long in = 0;
      for (int task = 0; task < tasks; task++) {
        JsonObject metrics = filter(settings, task, tasks);
        in += metrics.number("rows_in");
        assertThat(metrics.number("rows_in"))
            .isEqualTo(metrics.number("rows_out") + metrics.number("rows_rejected"));
      }
      assertThat(in).isEqualTo(500);
      List<List<String>> kept = rows("filtered", "id");
      assertThat(kept.stream().map(row -> row.get(0)).toList())
          .containsExactlyInAnyOrderElementsOf(expected);
      assertThat(rows("rejects", "reason")).hasSize(500 - expected.size());
      first = tasks == 1 ? kept : first;
      assertThat(kept).as("in the same order").isEqualTo(first);
      try (var files = Files.list(folder.resolve("out"))) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
