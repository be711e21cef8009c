package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Share;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Near duplicates in four stages, against one task that does all of it. */
@Tag("long")
class ArrayDuplicatesTest {
  private static final String SETTINGS =
      "{\"columns\": {\"id\": \"integer\", \"text\": \"text\"}, \"text\": [\"text\"], \"id\": \"id\", \"seed\": 3,"
          + " \"split\": {\"train\": 0.7, \"test\": 0.3}, \"sample\": {\"share\": 0.8}, \"min_chars\": 3,"
          + " \"requests\": {\"model\": \"m\", \"prompt\": \"{text}\"}, \"rows_per_file\": 50";
  private static final String NEAR = SETTINGS + ", \"near_duplicates\": true}";
  private static final String FIRST =
      SETTINGS + ", \"near_duplicates\": true, \"signatures\": true}";

  @TempDir Path folder;
  private PrepareBench bench;

  @BeforeEach
  void bench() {
    bench = new PrepareBench(folder);
  }

  private static List<String> words(Random random, int count) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      words.add(Long.toString(random.nextLong() & 0xFFFFFFFFL, 36));
    }
    return words;
  }

  /** Rows of every kind in three files: chains, heaps, equal texts, wrong rows, short ones. */
  private void write(long seed) throws IOException {
    Random random = new Random(seed);
    List<String> lines = new ArrayList<>();
    int id = 0;
    for (int group = 0; group < 40; group++) {
      List<String> text = words(random, 20 + random.nextInt(60));
      int copies = 1 + random.nextInt(group % 10 == 0 ? 20 : 4);
      boolean chain = random.nextBoolean();
      for (int copy = 0; copy < copies; copy++) {
        lines.add(line(id++, String.join(random.nextInt(3) == 0 ? "  " : " ", text)));
        List<String> next = new ArrayList<>(text);
        next.set(random.nextInt(next.size()), "new" + random.nextInt(1000));
        text = chain ? next : text;
        if (!chain && random.nextInt(3) > 0) {
          lines.add(line(id++, String.join(" ", next)));
        }
      }
    }
    lines.addAll(List.of("{\"id\":1", line(3, "an id again, with another text"), "{\"id\":\"x\"}"));
    lines.addAll(
        List.of(line(id++, "?"), line(id++, "?!. ?"), line(id++, "!!! !"), line(id, "one two")));
    java.util.Collections.shuffle(lines, random);
    for (int file = 0; file < 3; file++) {
      List<String> own = lines.subList(lines.size() * file / 3, lines.size() * (file + 1) / 3);
      bench.file("in/" + file + ".jsonl", String.join("\n", own) + "\n");
    }
  }

  private static String line(int id, String text) {
    return Json.compact(new JsonObject().with("id", id).with("text", text));
  }

  private void signatures(String settings, int tasks) {
    for (int task = 0; task < tasks; task++) {
      JsonObject counts =
          bench.run(settings, task, tasks, List.of(), List.of(), folder.resolve("signatures"));
      assertThat(counts.number("rows_in"))
          .isEqualTo(counts.number("rows_out") + counts.number("rows_rejected"));
    }
  }

  private void buckets(int task, int tasks) {
    try (Engine engine = bench.engine()) {
      Share share = tasks == 1 ? Share.ALL : new Share(task, tasks);
      new BucketsStep(engine, share)
          .run(List.of(folder.resolve("signatures").toString()), folder.resolve("pairs"));
    }
  }

  private JsonObject clusters() {
    try (Engine engine = bench.engine()) {
      return new ClustersStep(engine)
          .run(List.of(folder.resolve("pairs").toString()), folder.resolve("clusters"));
    }
  }

  /** Runs the last stage, and returns how many rows its smallest task had. */
  private long filter(String settings, int tasks) {
    long least = Long.MAX_VALUE;
    for (int task = 0; task < tasks; task++) {
      List<String> clusters = List.of(folder.resolve("clusters").toString());
      JsonObject counts = bench.run(settings, task, tasks, List.of(), clusters, bench.out);
      least = Math.min(least, counts.number("rows_in"));
    }
    return least;
  }

  private void firstStages(int tasks, int bucketTasks) {
    signatures(FIRST, tasks);
    for (int task = 0; task < bucketTasks; task++) {
      buckets(task, bucketTasks);
    }
    clusters();
  }

  private void clear() throws IOException {
    for (String name : List.of("out", "signatures", "pairs", "clusters")) {
      if (Files.exists(folder.resolve(name))) {
        try (var files = Files.list(folder.resolve(name))) {
          for (Path file : files.toList()) {
            Files.delete(file);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1, 1", "1, 4, 3", "2, 7, 14", "1, 0, 14"})
  void theStagesWriteTheBytesOfOneTask(long seed, int few, int bucketTasks) throws IOException {
    // Each task starts a DuckDB; -Dduplicates.tasks=64 is the long form.
    int tasks = few == 0 ? SuiteSize.of("duplicates.tasks", 6, 20) : few;
    write(seed);
    JsonObject one = bench.run(NEAR);
    List<Object> expected = bench.union();
    clear();

    firstStages(tasks, bucketTasks);
    long least = filter(NEAR, tasks);

    bench.same(expected);
    assertThat(one.number("rejected_near_duplicate")).isGreaterThan(40);
    assertThat(one.number("rejected_not_sampled")).isPositive();
    assertThat(least).isGreaterThanOrEqualTo(0);
    if (tasks == 64) {
      assertThat(least).as("an empty shard").isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 7})
  void withoutNearDuplicatesTheTasksWriteTheBytesOfOneTask(int tasks) throws IOException {
    write(5);
    bench.run(SETTINGS + "}");
    List<Object> expected = bench.union();
    clear();

    for (int task = 0; task < tasks; task++) {
      bench.run(SETTINGS + "}", task, tasks, List.of());
    }

    bench.same(expected);
  }

  /** Random graphs, against a union of sets; and a chain that is longer than any of them. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void clustersAreThoseOfAUnionOfSets(long seed) {
    Random random = new Random(seed);
    int nodes = seed == 4 ? 3000 : 200;
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      order.add(i);
    }
    java.util.Collections.shuffle(order, random);
    int[] parent = new int[nodes];
    for (int i = 0; i < nodes; i++) {
      parent[i] = i;
    }
    List<String> values = new ArrayList<>();
    for (int i = 0; i < (seed == 4 ? nodes - 1 : 40 + 40 * (int) seed); i++) {
      int a = seed == 4 ? order.get(i) : random.nextInt(nodes);
      int b = seed == 4 ? order.get(i + 1) : random.nextInt(nodes);
      if (a != b) {
        values.add("(" + Math.max(a, b) + ", " + Math.min(a, b) + ")");
        int x = root(parent, a);
        int y = root(parent, b);
        parent[Math.max(x, y)] = Math.min(x, y);
      }
    }
    List<List<String>> expected = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      if (root(parent, i) != i) {
        expected.add(List.of("" + i, "" + root(parent, i)));
      }
    }
    try (Engine engine = bench.engine()) {
      Clusters clusters = new Clusters(engine);
      clusters.begin();
      engine.run("INSERT INTO pairs VALUES " + String.join(", ", values));

      clusters.label();

      assertThat(engine.rows("SELECT n, label FROM labels ORDER BY n")).isEqualTo(expected);
    }
  }

  private static int root(int[] parent, int node) {
    int at = node;
    while (parent[at] != at) {
      at = parent[at];
    }
    return at;
  }

  @Test
  void aMissingTaskIsAnErrorInEveryStage() throws IOException {
    write(1);
    signatures(FIRST, 3);
    Files.delete(folder.resolve("signatures/signatures-05-00001-00000.parquet"));

    assertThatThrownBy(() -> buckets(0, 1))
        .hasMessageContaining("signatures-05-00001-00000.parquet is missing: by report-00001.json");
    // Of a task that did not complete there is no report either.
    Files.delete(folder.resolve("signatures/report-00001.json"));
    assertThatThrownBy(() -> buckets(0, 1))
        .hasMessageContaining("the signatures of task 1 of 0-2, band 5, are missing");
    // Band 5 belongs to another task of this array.
    buckets(0, 2);
    assertThatThrownBy(() -> buckets(1, 2)).hasMessageContaining("band 5, are missing");
    assertThatThrownBy(this::clusters).hasMessageContaining("the pairs of band 1 are missing");
    assertThat(folder.resolve("clusters/duplicates-00000.parquet")).doesNotExist();
    assertThatThrownBy(() -> filter(NEAR, 3)).hasMessageContaining("there is no data file");
  }

  @Test
  void filesOfAnotherRunAreRefused() throws IOException {
    write(1);
    firstStages(2, 2);

    assertThatThrownBy(() -> filter(NEAR, 3))
        .hasMessageContaining("the signatures were written by 2 tasks, and this stage has 3");
    assertThatThrownBy(() -> filter(NEAR.replace("\"min_chars\": 3", "\"min_chars\": 200"), 2))
        .hasMessageContaining("task 0 wrote the signatures of ")
        .hasMessageContaining(" rows; now it has ");
    assertThat(bench.files("train-")).isEmpty();

    // The same number of rows, but one text differs.
    Path file = folder.resolve("in/1.jsonl");
    Files.writeString(file, Files.readString(file).replaceFirst("new\\d+", "other"));
    assertThatThrownBy(() -> filter(NEAR, 2)).hasMessageContaining("now it has ");

    // The pairs of one task are new, and the others old.
    signatures(FIRST, 2);
    buckets(0, 2);
    assertThatThrownBy(this::clusters)
        .hasMessageContaining("pairs-00001-00000.parquet: these pairs are of another run");
    // The signatures of an array of another size lie in the same folder.
    signatures(FIRST, 1);
    assertThatThrownBy(() -> buckets(0, 2))
        .hasMessageContaining("these signatures are of another run than the others");
  }

  @Test
  void theKeysOfTheStagesGoTogether() throws IOException {
    write(1);

    assertThatThrownBy(() -> bench.run(NEAR, 1, 4, List.of()))
        .hasMessageContaining("near_duplicates compares all rows with each other")
        .satisfies(
            failed ->
                assertThat(((dev.nexa.slurm.base.error.NexaException) failed).advice().toString())
                    .contains("docs/data.md#near-duplicates-in-an-array"));
    assertThatThrownBy(() -> bench.run(SETTINGS + ", \"signatures\": true}"))
        .hasMessageContaining("set near_duplicates to true");
    assertThatThrownBy(() -> filter(SETTINGS + "}", 1)).hasMessageContaining("set near_duplicates");
    assertThatThrownBy(() -> filter(FIRST, 1)).hasMessageContaining("leave --clusters out");
    assertThatThrownBy(() -> buckets(0, 15)).hasMessageContaining("14 bands, too few for 15 tasks");
    assertThatThrownBy(() -> buckets(0, 1)).hasMessageContaining("there is no data file");
  }
}
