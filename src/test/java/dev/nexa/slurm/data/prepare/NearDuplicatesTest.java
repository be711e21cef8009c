package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** MinHash against its theory, on pairs of texts whose similarity is known by construction. */
class NearDuplicatesTest {
  private static final String SETTINGS =
      "{\"columns\": {\"id\": \"text\", \"text\": \"text\"}, \"text\": [\"text\"], \"near_duplicates\": true}";

  /** Words of a text. */
  private static final int WORDS = 104;

  private static final int PAIRS = 400;

  @TempDir Path folder;

  private static List<String> words(Random random, int count) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      words.add(Long.toString(random.nextLong() & Long.MAX_VALUE, 36));
    }
    return words;
  }

  private static void line(StringBuilder lines, String id, List<String> words) {
    lines.append("{\"id\":\"").append(id).append("\",\"text\":\"");
    lines.append(String.join(" ", words)).append("\"}\n");
  }

  /** The texts have 100 different 5-grams each. With k first words in common, k - 4 are common. */
  @Test
  void pairsAreFoundAsOftenAsTheTheorySays() throws IOException {
    Random random = new Random(20);
    StringBuilder lines = new StringBuilder();
    Map<String, Double> similarity = new HashMap<>();
    for (int common : List.of(60, 74, 82, 90, 97)) {
      double jaccard = (common - 4.0) / (200 - (common - 4));
      for (int i = 0; i < PAIRS; i++) {
        List<String> first = words(random, WORDS);
        List<String> second = new ArrayList<>(first.subList(0, common));
        second.addAll(words(random, WORDS - common));
        line(lines, common + " " + i, first);
        line(lines, common + " " + i, second);
        similarity.put(common + "", jaccard);
      }
    }
    PrepareBench bench = new PrepareBench(folder);
    bench.file("in/a.jsonl", lines.toString());

    JsonObject metrics = bench.run(SETTINGS);

    assertThat(metrics.number("rows_in")).isEqualTo(10 * PAIRS);
    Map<String, Integer> kept = new HashMap<>();
    for (String id : bench.column("train", "id")) {
      kept.merge(id.substring(0, id.indexOf(' ')), 1, Integer::sum);
    }
    similarity.forEach(
        (common, jaccard) -> {
          double theory = 1 - Math.pow(1 - Math.pow(jaccard, 8), 14);
          double found = (2.0 * PAIRS - kept.get(common)) / PAIRS;
          // Four standard deviations, and a little for pairs that are nearly never or always found.
          double band = 4 * Math.sqrt(theory * (1 - theory) / PAIRS) + 0.01;
          assertThat(found)
              .as("similarity %.2f, theory %.3f", jaccard, theory)
              .isBetween(theory - band, theory + band);
        });
  }

  /** Each text is like the one before it only: a chain. Then the same texts in one heap. */
  @Test
  void aChainAndAHeapLeaveTheirFirstRow() throws IOException {
    Random random = new Random(3);
    StringBuilder lines = new StringBuilder();
    List<String> text = words(random, WORDS);
    for (int i = 0; i < 60; i++) {
      line(lines, "chain" + i, text);
      text = new ArrayList<>(text.subList(1, WORDS));
      text.addAll(words(random, 1));
    }
    List<String> heap = words(random, WORDS);
    for (int i = 0; i < 500; i++) {
      List<String> one = new ArrayList<>(heap);
      one.set(random.nextInt(2) * (WORDS - 1), "end" + i);
      line(lines, "heap" + i, one);
    }
    line(lines, "alone", words(random, WORDS));
    line(lines, "short", List.of("two", "words"));
    PrepareBench bench = new PrepareBench(folder);
    bench.file("in/a.jsonl", lines.toString());

    bench.run(SETTINGS);

    assertThat(bench.column("train", "id"))
        .containsExactlyInAnyOrder("chain0", "heap0", "alone", "short");
    assertThat(bench.rejects().get(0).subList(3, 5))
        .containsExactly("near duplicate", "like " + folder.resolve("in/a.jsonl") + " row 1");
  }
}
