package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.job.config.steps.DataStage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hostile files and each step of {@code data prepare}: no row is lost without a reason. */
@Tag("long")
class PrepareTest {
  private static final String TEXT = "{\"columns\": {\"text\": \"text\"}, \"text\": [\"text\"]";

  @TempDir Path folder;
  private PrepareBench bench;

  @BeforeEach
  void bench() {
    bench = new PrepareBench(folder);
  }

  private static byte[] bytes(Object... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Object part : parts) {
      if (part instanceof Integer number) {
        out.write(number);
      } else {
        out.writeBytes(part.toString().getBytes(StandardCharsets.UTF_8));
      }
    }
    return out.toByteArray();
  }

  private static void counts(JsonObject metrics, long in, long out) {
    assertThat(metrics.number("rows_in")).isEqualTo(in);
    assertThat(metrics.number("rows_out")).isEqualTo(out);
    assertThat(metrics.number("rows_rejected")).isEqualTo(in - out);
    assertThat(metrics.text("program_sha256")).hasSize(64);
  }

  @Test
  void brokenLinesAreRejectsWithTheirLineAndStart() throws IOException {
    bench.file(
        "in/a.jsonl",
        bytes(
            "{\"text\":\"good\"}\n{\"text\":\"cut\n\n{\"text\":\"bad ",
            0xff,
            " utf8\"}\n[1]\n\"x\"\n{\"text\":\"two\"} {\"text\":\"objects\"}\n",
            "{\"text\":7}\n{\"text\":null}\n{}\n   \n{\"text\":\"  \"}\r\n{\"text\":\"last\"}"));

    JsonObject metrics = bench.run(TEXT + "}");

    counts(metrics, 11, 2);
    assertThat(bench.column("train", "text")).containsExactlyInAnyOrder("good", "last");
    assertThat(bench.rejects())
        .containsExactly(
            List.of("a.jsonl", "2", "2", "broken", "broken JSON"),
            List.of("a.jsonl", "3", "4", "broken", "broken JSON"),
            List.of("a.jsonl", "4", "5", "broken", "no JSON object"),
            List.of("a.jsonl", "5", "6", "broken", "no JSON object"),
            List.of("a.jsonl", "6", "7", "broken", "broken JSON"),
            List.of("a.jsonl", "7", "", "schema", "column text: expected text, got 7"),
            List.of("a.jsonl", "8", "", "schema", "column text: missing"),
            List.of("a.jsonl", "9", "", "schema", "column text: missing"),
            List.of("a.jsonl", "10", "", "empty", ""));
    try (Engine engine = bench.engine()) {
      assertThat(
              engine.column(
                  "SELECT start FROM '" + bench.files("rejects-").get(0) + "' WHERE row = 3"))
          .containsExactly("{\"text\":\"bad \uFFFD utf8\"}");
    }
  }

  @Test
  void aLineThatIsTooLongIsNamed() throws IOException {
    bench.file(
        "in/a.jsonl", "{\"text\":\"ok\"}\n\n{\"text\":\"" + "x".repeat(50_000_000) + "\"}\n");

    assertThatThrownBy(() -> bench.run(TEXT + "}"))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("in/a.jsonl:3: the line has 50000011 bytes, more than max_row")
        .satisfies(
            failed ->
                assertThat(((NexaException) failed).code()).isEqualTo(ErrorCode.DATA_INVALID));

    counts(bench.run(TEXT + ", \"max_row\": 60000000}"), 2, 2);
  }

  /** DuckDB's types of JSON would overflow its stack, but prepare declares the types. */
  @Test
  void aDeeplyNestedRowIsRead() throws IOException {
    String deep = "[".repeat(20_000) + "]".repeat(20_000);
    bench.file("in/a.jsonl", "{\"text\":\"one\",\"j\":1}\n{\"text\":\"two\",\"j\":" + deep + "}\n");

    counts(
        bench.run("{\"columns\": {\"text\": \"text\", \"j\": \"json\"}, \"text\": [\"text\"]}"),
        2,
        2);
  }

  @Test
  void anEmptyFileAndNoFile() throws IOException {
    bench.file("in/a.jsonl", "");
    counts(bench.run(TEXT + "}"), 0, 0);
    assertThat(bench.column("train", "text")).isEmpty();
    assertThat(bench.files("train-")).hasSize(1);

    Files.delete(folder.resolve("in/a.jsonl"));
    assertThatThrownBy(() -> bench.run(TEXT + "}"))
        .hasMessageContaining("there is no data file " + folder.resolve("in"));
  }

  @Test
  void aParquetFileOfAnotherSchemaIsRefused() throws IOException {
    Files.createDirectories(folder.resolve("in"));
    try (Engine engine = bench.engine()) {
      engine.run("COPY (SELECT 'a' AS txet, 1 AS y) TO '" + folder.resolve("in/a.parquet") + "'");
    }
    assertThatThrownBy(() -> bench.run(TEXT + "}"))
        .hasMessageContaining(
            "in/a.parquet: there is no column 'text' (did you mean 'txet'?); its columns are txet, y");

    try (Engine engine = bench.engine()) {
      engine.run("COPY (SELECT 1.5 AS text) TO '" + folder.resolve("in/a.parquet") + "'");
    }
    assertThatThrownBy(() -> bench.run(TEXT + "}"))
        .hasMessageContaining("in/a.parquet: the column 'text' is DECIMAL(2,1), expected text");

    Files.writeString(folder.resolve("in/a.parquet"), "no parquet");
    assertThatThrownBy(() -> bench.run(TEXT + "}"))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("a.parquet");
  }

  @Test
  void aBrokenCsvFileIsRefusedWithItsLine() throws IOException {
    bench.file("in/a.csv", "text,year\nhello,1\nworld\n");
    assertThatThrownBy(() -> bench.run(TEXT + "}"))
        .hasMessageContaining("in/a.csv:3: Expected Number of Columns: 2 Found: 1");

    bench.file("in/a.csv", "text,year\nhello,1\n\"open,2\n");
    assertThatThrownBy(() -> bench.run(TEXT + "}"))
        .hasMessageContaining("in/a.csv:3: Value with unterminated quote found.");

    bench.file("in/a.csv", bytes("text,year\nhello,1\nbad", 0xff, ",2\n"));
    assertThatThrownBy(() -> bench.run(TEXT + "}"))
        .hasMessageContaining("in/a.csv:3: Invalid unicode");
  }

  @Test
  void allFormatsGiveTheSameRows() throws IOException {
    String typed =
        "{\"columns\": {\"text\": \"text\", \"year\": \"integer\", \"score\": \"number?\", \"ok\": \"boolean?\","
            + " \"more\": \"json?\"}, \"text\": [\"text\"]}";
    String lines =
        "{\"text\":\"one, \\\"1\\\"\",\"year\":1,\"score\":0.5,\"ok\":true,\"more\":{\"a\":[1]}}\n"
            + "{\"text\":\"two\",\"year\":-2}\n"
            + "{\"text\":\"three\",\"year\":1.5}\n";
    String csv =
        "text,year,score,ok,more\n\"one, \"\"1\"\"\",1,0.5,true,\"{\"\"a\"\":[1]}\"\ntwo,-2,,,\nthree,1.5,,,\n";
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(lines.getBytes(StandardCharsets.UTF_8));
    }
    List<List<String>> rows = null;
    for (String name : List.of("a.jsonl", "a.jsonl.gz", "a.csv", "a.csv.zst", "a.parquet")) {
      PrepareBench one = new PrepareBench(folder.resolve(name + ".d"));
      byte[] content =
          name.contains("csv") ? csv.getBytes(StandardCharsets.UTF_8) : packed.toByteArray();
      if (name.equals("a.csv.zst") || name.equals("a.parquet")) {
        one.file("plain.csv", csv);
        Files.createDirectories(one.folder.resolve("in"));
        try (Engine engine = one.engine()) {
          engine.run(
              name.equals("a.parquet")
                  ? "COPY (SELECT text, TRY_CAST(year AS BIGINT) AS year, score::DOUBLE AS score, ok::BOOLEAN AS"
                      + " ok, more::JSON AS more FROM read_csv('"
                      + one.folder
                      + "/plain.csv', all_varchar=true)) TO '"
                      + one.folder
                      + "/in/a.parquet'"
                  : "COPY (FROM read_csv('"
                      + one.folder
                      + "/plain.csv', all_varchar=true)) TO '"
                      + one.folder
                      + "/in/a.csv.zst'");
          if (name.equals("a.parquet")) {
            // A cast makes 2 of 1.5; as NULL the row is rejected for another reason.
            engine.run(
                "COPY (SELECT * REPLACE (CASE WHEN text <> 'three' THEN year END AS year) FROM '"
                    + one.folder
                    + "/in/a.parquet') TO '"
                    + one.folder
                    + "/in/b.parquet'");
            Files.move(
                one.folder.resolve("in/b.parquet"),
                one.folder.resolve("in/a.parquet"),
                java.nio.file.StandardCopyOption.REPLACE_EXISTING);
          }
        }
      } else {
        one.file(
            "in/" + name,
            name.equals("a.jsonl") ? lines.getBytes(StandardCharsets.UTF_8) : content);
      }

      counts(one.run(typed), 3, 2);

      try (Engine engine = one.engine()) {
        List<List<String>> found =
            engine.rows(
                "SELECT text, year, score, ok, more FROM '" + one.files("train-").get(0) + "'");
        rows = rows == null ? found : rows;
        assertThat(found).as(name).isEqualTo(rows).hasSize(2);
      }
      assertThat(one.rejects())
          .hasSize(1)
          .allSatisfy(row -> assertThat(row).contains("3", "schema"));
    }
  }

  /** Every character that is white space, alone, doubled, and beside a space. */
  @Test
  void eachRunOfWhiteSpaceBecomesOneSpace() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int c = 9; c < 0x3001; c++) {
      boolean white = Character.isSpaceChar(c) || (c >= 9 && c <= 13) || c == 0x85;
      if (white) {
        String one = Character.toString(c);
        for (String run : List.of(one, one + one, " " + one, one + " ", " " + one + " ")) {
          lines.append(Json.compact(new JsonObject().with("text", run + "a" + run + "b" + run)));
          lines.append('\n');
        }
      }
    }
    bench.file("in/a.jsonl", lines.toString());

    bench.run(TEXT + ", \"exact_duplicates\": false}");

    assertThat(bench.column("train", "text")).hasSizeGreaterThan(100).containsOnly("a b");
  }

  @Test
  void duplicatesAndIdsNameTheFirst() throws IOException {
    bench.file(
        "in/a.jsonl",
        "{\"id\":1,\"text\":\"e\u0301 x\"}\n{\"id\":2,\"text\":\" \u00e9   x\"}\n{\"id\":1,\"text\":\"other\"}\n");
    bench.file("in/b.jsonl", "{\"id\":3,\"text\":\"\u00e9\\tx\"}\n");
    String settings =
        "{\"columns\": {\"id\": \"integer\", \"text\": \"text\"}, \"text\": [\"text\"], \"id\": \"id\"}";

    JsonObject metrics = bench.run(settings);

    counts(metrics, 4, 1);
    assertThat(bench.column("train", "text")).containsExactly("\u00e9 x");
    String first = "as " + folder.resolve("in/a.jsonl") + " row 1";
    assertThat(bench.rejects())
        .containsExactly(
            List.of("a.jsonl", "2", "", "duplicate", first),
            List.of("a.jsonl", "3", "", "duplicate id", first),
            List.of("b.jsonl", "1", "", "duplicate", first));
    assertThat(metrics.number("rejected_duplicate_id")).isEqualTo(1);
  }

  @Test
  void lengthsAndLanguages() throws IOException {
    String english = "This is the first of the two sentences that are to be read by all of us.";
    String german = "Das ist der erste von zwei Sätzen, die nicht mit den anderen zu lesen sind.";
    String russian = "Это первое из двух предложений.";
    StringBuilder lines = new StringBuilder();
    for (String text : List.of(english, german, russian, "ab", "x".repeat(200), "12 34 56 78 90")) {
      lines.append(Json.compact(new JsonObject().with("text", text))).append('\n');
    }
    bench.file("in/a.jsonl", lines.toString());

    JsonObject metrics =
        bench.run(
            TEXT + ", \"min_chars\": 10, \"max_chars\": 100, \"languages\": [\"en\", \"ru\"]}");

    counts(metrics, 6, 2);
    assertThat(bench.column("train", "text")).containsExactlyInAnyOrder(english, russian);
    assertThat(bench.rejects())
        .extracting(row -> row.get(3) + ": " + row.get(4))
        .containsExactly(
            "language: de",
            "too short: 2 characters",
            "too long: 200 characters",
            "language: unknown");
  }

  @Test
  void whatAnEvalSetHasIsTakenOut() throws IOException {
    String secret =
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    bench.file(
        "eval/q.jsonl",
        "{\"question\":\"Start. One two, THREE four five six seven eight nine ten eleven twelve thirteen!\"}\n");
    bench.file(
        "in/a.jsonl",
        "{\"text\":\"before "
            + secret
            + " after\"}\n{\"text\":\""
            + secret.replace("seven", "7")
            + "\"}\n");

    JsonObject metrics =
        bench.run(
            TEXT + ", \"decontaminate\": {\"columns\": [\"question\"]}}",
            0,
            1,
            List.of(folder.resolve("eval/q.jsonl").toString()));

    counts(metrics, 2, 1);
    assertThat(bench.rejects().get(0))
        .containsExactly(
            "a.jsonl",
            "1",
            "",
            "contaminated",
            "shares 1 n-grams with " + folder.resolve("eval/q.jsonl"));

    assertThatThrownBy(
            () -> bench.run(TEXT + "}", 0, 1, List.of(folder.resolve("eval/q.jsonl").toString())))
        .hasMessageContaining("no row has text in text");
  }

  @Test
  void requestsAreWhatVllmReads() throws IOException {
    bench.file(
        "in/a.jsonl",
        "{\"id\":\"q1\",\"text\":\"What's \\\"DNA\\\"?\\nSay.\"}\n{\"id\":\"q2\",\"text\":\"{id}\"}\n{\"id\":\"q3\",\"text\":\"c\"}\n");

    bench.run(
        "{\"columns\": {\"id\": \"text\", \"text\": \"text\"}, \"text\": [\"text\"], \"id\": \"id\", \"normalize\": false,"
            + " \"requests\": {\"model\": \"m\", \"prompt\": \"Q: {text} {none}\", \"system\": \"Be brief.\","
            + " \"options\": {\"max_tokens\": 5}, \"rows_per_file\": 2}}");

    List<Path> files = bench.files("requests-");
    assertThat(files).hasSize(2);
    List<JsonObject> lines = new java.util.ArrayList<>();
    for (Path file : files) {
      Files.readAllLines(file).forEach(line -> lines.add(Json.parseObject(line)));
    }
    assertThat(lines).hasSize(3);
    JsonObject first =
        lines.stream()
            .filter(line -> line.text("custom_id").equals("q1"))
            .findFirst()
            .orElseThrow();
    assertThat(first.toString())
        .isEqualTo(
            "{\"custom_id\":\"q1\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{\"max_tokens\":5,"
                + "\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\","
                + "\"content\":\"Q: What's \\\"DNA\\\"?\\nSay. {none}\"}]}}");
  }

  @Test
  void aStepThatComparesAllRowsNeedsOneTask() throws IOException {
    bench.file("in/a.jsonl", "{\"text\":\"a\"}\n");

    assertThatThrownBy(() -> bench.run(TEXT + ", \"near_duplicates\": true}", 1, 4, List.of()))
        .hasMessageContaining(
            "near_duplicates compares all rows with each other, so it needs one task; there are 4");
    assertThatThrownBy(() -> bench.run(TEXT + ", \"sample\": {\"rows\": 1}}", 1, 4, List.of()))
        .hasMessageContaining("sample.rows");
  }

  @Test
  void aSecondAttemptLeavesNothingOfTheFirst() throws IOException {
    bench.file("in/a.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n");
    bench.run(TEXT + ", \"rows_per_file\": 1}");
    assertThat(bench.files("train-")).hasSize(3);
    bench.file("out/.train-00001.parquet.tmp", "x");
    bench.file("out/train-of-others.txt", "x");

    bench.run(TEXT + "}");

    assertThat(bench.files(""))
        .extracting(file -> file.getFileName().toString())
        .containsExactly(
            "rejects-00000.parquet",
            "report-00000.json",
            "train-00000.parquet",
            "train-of-others.txt");
  }

  @Test
  void theBytesAreTheSameForAnyNumberOfThreads() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int row = 0; row < 60_000; row++) {
      lines.append("{\"text\":\"").append(row).append("\"}\n");
    }
    bench.file("in/a.jsonl", lines.toString());
    List<byte[]> files = new java.util.ArrayList<>();
    for (int threads : List.of(1, 2, 5)) {
      try (Engine engine =
          Engine.open(new Limits(1024L << 20, threads, folder.resolve("scratch")))) {
        new Prepare(
                engine,
                PrepareSettings.of(DataStage.withDefaults("prepare", Json.parseObject(TEXT + "}"))),
                Share.ALL,
                Progress.NONE)
            .run(
                List.of(folder.resolve("in").toString()),
                List.of(),
                List.of(),
                List.of(),
                bench.out);
        files.add(Files.readAllBytes(bench.out.resolve("train-00000.parquet")));
      }
    }

    try (Engine engine = bench.engine()) {
      assertThat(
              engine.number(
                  "SELECT count(DISTINCT row_group_id) FROM parquet_metadata('"
                      + bench.out
                      + "/train-00000.parquet')"))
          .as("row groups, which DuckDB writes in parallel")
          .isEqualTo(3);
    }
    assertThat(files.get(1)).isEqualTo(files.get(0));
    assertThat(files.get(2)).isEqualTo(files.get(0));
  }
}
