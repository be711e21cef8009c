package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random files against a second definition of the steps in Java, for several numbers of tasks. */
class PrepareRandomTest {
  @TempDir Path folder;

  /** A row of the raw files: null for a line that is no object. */
  private record Raw(String file, int row, Object id, Object text) {}

  private record Kept(String key, Raw raw, String text) {}

  private static final List<String> PIECES =
      List.of(
          "a",
          "b",
          "\u00e9",
          "e\u0301",
          " ",
          "\u00a0",
          "\t",
          "\u4e2d",
          "\ud83d\ude00",
          "\"",
          "\\",
          "'",
          "{",
          "\u2003",
          "x");

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(5);
    for (int i = 0; i < length; i++) {
      text.append(PIECES.get(random.nextInt(PIECES.size())));
    }
    return text.toString();
  }

  private List<Raw> write(PrepareBench bench, Random random) throws IOException {
    List<Raw> all = new ArrayList<>();
    for (int f = 0; f < 4; f++) {
      String name = "f" + f + (f % 2 == 0 ? ".jsonl" : ".jsonl.gz");
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      int rows = f == 3 ? 0 : 100 + random.nextInt(200);
      for (int row = 1; row <= rows; row++) {
        Object id = random.nextInt(20) == 0 ? "no" : random.nextInt(2000);
        Object text = random.nextInt(20) == 0 ? (Object) 5 : text(random);
        String line =
            Json.compact(new JsonObject().with("id", id).with("text", text).with("x", row));
        int damage = random.nextInt(30);
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        boolean broken = damage < 3;
        if (damage == 0) {
          bytes = line.substring(0, line.length() - 1).getBytes(StandardCharsets.UTF_8);
        } else if (damage == 1) {
          bytes[2] = (byte) 0xfe;
        } else if (damage == 2) {
          bytes = "[]".getBytes(StandardCharsets.UTF_8);
        }
        out.writeBytes(bytes);
        out.write('\n');
        if (random.nextInt(10) == 0) {
          out.write('\n');
        }
        all.add(new Raw(name, row, broken ? null : id, broken ? null : text));
      }
      byte[] content = out.toByteArray();
      if (name.endsWith(".gz")) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
          gzip.write(content);
        }
        content = packed.toByteArray();
      }
      bench.file("in/" + name, content);
    }
    return all;
  }

  /** What is kept, by another definition: in the order of the output. */
  private static List<Kept> expected(List<Raw> rows, BigDecimal share, int most) {
    Set<Object> ids = new HashSet<>();
    Map<String, Kept> byKey = new HashMap<>();
    for (Raw raw : rows) {
      if (!(raw.id() instanceof Integer) || !(raw.text() instanceof String text)) {
        continue;
      }
      boolean first = ids.add(raw.id());
      String clean =
          Normalizer.normalize(text, Normalizer.Form.NFC).replaceAll("[\\s\\p{Z}]+", " ").strip();
      int length = clean.codePointCount(0, clean.length());
      if (first && length > 0 && length <= most) {
        String key = Sha256.of(clean);
        byKey.putIfAbsent(key, new Kept(key, raw, clean));
      }
    }
    String end = Fractions.hex(share);
    return byKey.values().stream()
        .filter(kept -> Sha256.of("sample:7:" + kept.key()).compareTo(end) < 0)
        .sorted(Comparator.comparing(Kept::key))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void everyRowIsKeptOrRejectedAndTheNumberOfTasksDoesNotMatter(long seed) throws IOException {
    Random random = new Random(seed);
    PrepareBench raw = new PrepareBench(folder);
    List<Raw> rows = write(raw, random);
    List<Kept> expected = expected(rows, new BigDecimal("0.7"), 3);
    String settings =
        "{\"columns\": {\"id\": \"integer\", \"text\": \"text\"}, \"text\": [\"text\"], \"id\": \"id\","
            + " \"max_chars\": 3, \"sample\": {\"share\": 0.7}, \"seed\": 7, \"rows_per_file\": 60,"
            + " \"split\": {\"train\": 0.75, \"test\": 0.25}}";
    for (int tasks : List.of(1, 4, 7)) {
      PrepareBench bench = new PrepareBench(folder);
      long in = 0;
      long out = 0;
      for (int task = 0; task < tasks; task++) {
        JsonObject metrics = bench.run(settings, task, tasks, List.of());
        in += metrics.number("rows_in");
        out += metrics.number("rows_out");
        assertThat(metrics.number("rows_in"))
            .isEqualTo(metrics.number("rows_out") + metrics.number("rows_rejected"));
      }
      assertThat(in).as("tasks " + tasks).isEqualTo(rows.size());
      assertThat(out).isEqualTo(expected.size());
      assertThat(bench.rejects()).hasSize((int) (in - out));
      List<String> train = bench.column("train", "id || text");
      List<String> test = bench.column("test", "id || text");
      List<String> wantTrain = new ArrayList<>();
      List<String> wantTest = new ArrayList<>();
      for (Kept kept : expected) {
        boolean first =
            Sha256.of("split:7:" + kept.key()).compareTo(Fractions.hex(new BigDecimal("0.75"))) < 0;
        (first ? wantTrain : wantTest).add(kept.raw().id() + kept.text());
      }
      assertThat(train).isEqualTo(wantTrain).isNotEmpty();
      assertThat(test).isEqualTo(wantTest).isNotEmpty();
      for (Path file : bench.files("")) {
        Files.delete(file);
      }
    }
  }
}
