package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Share;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two stages that divide the reading, against one task that reads and does all. */
@Tag("full")
class PreparePartsTest {
  private static final String SETTINGS =
      "{\"columns\": {\"id\": \"integer?\", \"text\": \"text\", \"more\": \"json?\"}, \"text\": [\"text\"],"
          + " \"id\": \"id\", \"split\": {\"train\": 0.7, \"test\": 0.3}, \"sample\": {\"share\": 0.9},"
          + " \"min_chars\": 3, \"max_chars\": 60, \"decontaminate\": {\"ngram\": 3},"
          + " \"requests\": {\"model\": \"m\", \"prompt\": \"{text} {more}\"}, \"rows_per_file\": 50";
  private static final String ALL = SETTINGS + "}";
  private static final String FIRST = SETTINGS + ", \"parts\": true}";

  @TempDir Path folder;
  private PrepareBench bench;

  @BeforeEach
  void bench() {
    bench = new PrepareBench(folder);
  }

  private static String text(Random random) {
    return switch (random.nextInt(12)) {
      case 0 -> "x";
      case 1 -> "long ".repeat(20);
      case 2 -> "one two three four";
      case 3 -> "text  number " + random.nextInt(60) + "!";
      default -> "text  number " + random.nextInt(60) + (random.nextBoolean() ? "" : "\t\u00e9");
    };
  }

  private static String line(Random random) {
    return switch (random.nextInt(14)) {
      case 0 -> "{\"id\": 1, \"text\": \"cut";
      case 1 -> "[1]";
      case 2 -> "{\"id\": \"x\", \"text\": \"a wrong id\"}";
      case 3 -> "{\"id\": 5}";
      case 4 -> "{\"text\": \"bad \u0000 utf8\"}";
      default ->
          Json.compact(
              new JsonObject()
                  .with("id", random.nextInt(150))
                  .with("text", text(random))
                  .with("more", List.of(random.nextInt(2))));
    };
  }

  /** Lines with each kind of line end, blank lines and bytes that are no UTF-8. */
  private static byte[] lines(Random random, int count, boolean finalNewline) {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < count; i++) {
      lines.append(line(random)).append(random.nextInt(3) == 0 ? "\r\n" : "\n");
      lines.append(random.nextInt(6) == 0 ? " \t\r\n" : "").append(i % 9 == 0 ? "\n\n" : "");
    }
    lines.append(finalNewline ? "" : "{\"id\": 990, \"text\": \"a last line without an end\"}");
    byte[] bytes = lines.toString().getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = bytes[i] == 0 ? (byte) 0xff : bytes[i];
    }
    return bytes;
  }

  /** Files of each format, of which the uncompressed JSONL files are divided. */
  private void write(long seed) throws IOException {
    Random random = new Random(seed);
    bench.file("in/a.jsonl", lines(random, 150, false));
    bench.file(
        "in/b.csv", "id,text\n3,from the csv file\n,no id\n990,the id of a last line\nx,y\n");
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(lines(random, 30, true));
    }
    bench.file("in/c.jsonl.gz", packed.toByteArray());
    bench.file("in/d.jsonl", "");
    bench.file("in/e.ndjson", lines(random, 60, true));
    try (Engine engine = bench.engine()) {
      engine.run(
          "COPY (SELECT (i % 40 + 120)::BIGINT AS id, CASE WHEN i <> 7 THEN 'row ' || i END AS text"
              + " FROM range(50) t(i)) TO '"
              + folder.resolve("in/f.parquet")
              + "'");
    }
    bench.file("in/g.jsonl", "\n\n");
    bench.file("eval/q.jsonl", "{\"text\": \"one two three\"}\n");
  }

  private List<String> against() {
    return List.of(folder.resolve("eval/q.jsonl").toString());
  }

  private long first(String settings, int tasks) {
    long read = 0;
    for (int task = 0; task < tasks; task++) {
      read += first(settings, task, tasks);
    }
    return read;
  }

  private long first(String settings, int task, int tasks) {
    return bench
        .run(settings, task, tasks, List.of(), List.of(), folder.resolve("parts"))
        .number("rows_read");
  }

  private JsonObject second(String settings, int task, int tasks) {
    List<String> parts = List.of(folder.resolve("parts").toString());
    return bench.run(settings, task, tasks, against(), List.of(), parts, bench.out);
  }

  private static void clear(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (var files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1, 1", "2, 4, 1", "3, 1, 4", "4, 4, 7", "5, 7, 64", "6, 64, 4"})
  void theTwoStagesWriteTheBytesOfOneTask(long seed, int tasks, int secondTasks)
      throws IOException {
    write(seed);
    JsonObject one = bench.run(ALL, 0, 1, against());
    List<Object> expected = bench.union();
    clear(bench.out);

    long read = first(FIRST, tasks);
    long in = 0;
    for (int task = 0; task < secondTasks; task++) {
      JsonObject counts = second(ALL, task, secondTasks);
      in += counts.number("rows_in");
      assertThat(counts.number("rows_in"))
          .isEqualTo(counts.number("rows_out") + counts.number("rows_rejected"));
    }

    bench.same(expected);
    assertThat(read).isEqualTo(one.number("rows_in"));
    assertThat(in).isEqualTo(one.number("rows_in"));
    for (String reason :
        List.of("broken", "schema", "too_short", "too_long", "duplicate", "duplicate_id")) {
      assertThat(one.number("rejected_" + reason)).as(reason).isPositive();
    }
    assertThat(one.number("rejected_contaminated")).isPositive();
    assertThat(one.number("rejected_not_sampled")).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"11, 1", "12, 100", "13, 1000"})
  void aFileThatIsReadInPiecesGivesTheSameBytes(long seed, long pieceBytes) throws IOException {
    write(seed);
    bench.run(ALL, 0, 1, against());
    List<Object> expected = bench.union();
    clear(bench.out);

    int before = bench.progress.lines().size();
    bench.pieces(ALL, against(), pieceBytes);

    bench.same(expected);
    assertThat(bench.progress.lines().subList(before, before + 3))
        .allMatch(line -> line.matches("(\\w| )+ (\\d+)/\\2 \\w+( (\\d+)/\\4 bytes)?"));
  }

  @Test
  void nearDuplicatesAndSampledRowsWorkAfterTheParts() throws IOException {
    write(8);
    String near =
        SETTINGS.replace("{\"share\": 0.9}", "{\"rows\": 30}") + ", \"near_duplicates\": true";
    bench.run(near + "}", 0, 1, against());
    List<Object> expected = bench.union();
    clear(bench.out);

    first(near + ", \"parts\": true}", 3);
    second(near + "}", 0, 1);

    bench.same(expected);
  }

  /** Parts, signatures, buckets, clusters, rows: five stages with two tasks in most of them. */
  @Test
  void nearDuplicatesInAnArrayWorkAfterTheParts() throws IOException {
    write(9);
    String near = SETTINGS + ", \"near_duplicates\": true";
    JsonObject one = bench.run(near + "}", 0, 1, against());
    assertThat(one.number("rejected_near_duplicate")).isPositive();
    List<Object> expected = bench.union();
    clear(bench.out);

    first(near + ", \"parts\": true}", 3);
    List<String> parts = List.of(folder.resolve("parts").toString());
    Path signatures = folder.resolve("signatures");
    for (int task = 0; task < 2; task++) {
      bench.run(near + ", \"signatures\": true}", task, 2, against(), List.of(), parts, signatures);
    }
    Path pairs = folder.resolve("pairs");
    Path clusters = folder.resolve("clusters");
    try (Engine engine = bench.engine()) {
      new BucketsStep(engine, Share.ALL).run(List.of(signatures.toString()), pairs);
    }
    try (Engine engine = bench.engine()) {
      new ClustersStep(engine).run(List.of(pairs.toString()), clusters);
    }
    for (int task = 0; task < 2; task++) {
      bench.run(near + "}", task, 2, against(), List.of(clusters.toString()), parts, bench.out);
    }

    bench.same(expected);
  }

  @Test
  void missingDoubleAndForeignPartsAreNamed() throws IOException {
    write(1);
    first(FIRST, 2);
    Path parts = folder.resolve("parts");
    Path file = parts.resolve("parts-00001-00000.parquet");

    // Task 1 is killed: its ids are there, and its rows are not.
    Files.move(file, folder.resolve("kept"));
    Path report = Files.move(parts.resolve("report-00001.json"), folder.resolve("report"));
    assertThatThrownBy(() -> second(ALL, 0, 1))
        .hasMessageContaining("the parts of task 1 of 0-1 are missing in " + parts)
        .satisfies(
            failed ->
                assertThat(((NexaException) failed).advice().toString())
                    .contains("run task 1 of the earlier step again")
                    .contains("docs/data.md#divide-the-reading"));
    assertThat(bench.files("train-")).isEmpty();

    Files.copy(report, parts.resolve("report-00001.json"));
    assertThatThrownBy(() -> second(ALL, 0, 1))
        .hasMessageContaining(file + " is missing: by report-00001.json, task 1");
    Files.copy(folder.resolve("kept"), file);
    Path copy = Files.copy(file, parts.resolve("parts-copy.parquet"));
    assertThatThrownBy(() -> second(ALL, 0, 1))
        .hasMessageContaining(copy + ": task 1 has other parts, too: " + file);

    Files.delete(copy);
    Path ids = parts.resolve("ids-00000-00000.parquet");
    Files.move(ids, folder.resolve("ids"));
    assertThatThrownBy(() -> second(ALL, 0, 1))
        .hasMessageContaining(ids + " is missing: by report");

    Files.move(folder.resolve("ids"), ids);
    assertThatThrownBy(() -> second(ALL.replace("\"max_chars\": 60", "\"max_chars\": 61"), 0, 1))
        .hasMessageContaining("these parts were written with other settings");

    first(FIRST, 0, 3);
    assertThatThrownBy(() -> second(ALL, 0, 1))
        .hasMessageContaining("these parts are of an array of 2 tasks")
        .hasMessageContaining("is of 3");
  }

  @Test
  void changedInputAndKeysOfOtherStagesAreRefused() throws IOException {
    write(1);
    first(FIRST, 1);
    bench.file("in/g.jsonl", "\n\n\n");

    assertThatThrownBy(() -> second(ALL, 0, 1))
        .hasMessageContaining("these parts were made of other input files");
    clear(folder.resolve("parts"));
    bench.file("parts/readme.jsonl", "");
    assertThatThrownBy(() -> second(ALL, 0, 1)).hasMessageContaining("there are no parts in ");
    assertThatThrownBy(() -> second(FIRST, 0, 1)).hasMessageContaining("--from-parts out");
    assertThatThrownBy(() -> first(SETTINGS + ", \"parts\": true, \"signatures\": true}", 0, 1))
        .hasMessageContaining("parts: true is the first stage");
  }

  @Test
  void aLineThatIsTooLongIsNamedByItsLineInTheFile() throws IOException {
    String good = "{\"text\": \"abc\"}\n";
    bench.file(
        "in/a.jsonl", good.repeat(4) + "\n{\"text\": \"" + "x".repeat(50_000_000) + "\"}\n" + good);

    assertThatThrownBy(() -> first(FIRST, 0, 2))
        .hasMessageContaining("in/a.jsonl:6: the line has 50000012 bytes, more than max_row");
    assertThat(first(FIRST, 1, 2)).isEqualTo(1);
  }
}
