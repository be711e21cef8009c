package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Rows;
import dev.nexa.slurm.data.rows.Source;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds similar texts with MinHash: 14 bands of 8 hashes over the 5-grams of words. Two texts whose
 * sets of 5-grams have the Jaccard similarity s are a pair with the probability 1 - (1 - s^8)^14,
 * which is about a half at 0.71 and 0.92 at 0.8. Pairs that hang together are a cluster; its first
 * row stays.
 */
final class NearDuplicates {
  static final int BANDS = 14;
  static final int HASHES = 8;
  static final int NGRAM = 5;

  /** So many rows at once have their hashes computed: the hashes of a row take 2 KiB. */
  private static final int BATCH = 50_000;

  private final Engine engine;

  NearDuplicates(Engine engine) {
    this.engine = engine;
  }

  void reject(Rows rows, List<Integer> text) {
    bands(text);
    clusters();
    rows.reject(
        "near duplicate",
        "SELECT n, 'like ' || " + Rows.place("label") + " AS detail FROM labels WHERE n <> label");
  }

  /** Makes the table {@code bands(s, n)}: texts with a common {@code s} are a pair. */
  private void bands(List<Integer> text) {
    List<String> columns = new ArrayList<>();
    text.forEach(column -> columns.add(Source.name(column)));
    String words = Texts.words("concat_ws(' ', " + String.join(", ", columns) + ")");
    List<String> least = new ArrayList<>();
    List<String> bands = new ArrayList<>();
    for (int b = 0; b < BANDS; b++) {
      List<String> own = new ArrayList<>();
      for (int h = 0; h < HASHES; h++) {
        int number = b * HASHES + h;
        // Any fixed numbers that differ.
        String seed = Long.toUnsignedString((number + 1) * 0x9E3779B97F4A7C15L);
        least.add("min(hash(xor(h, " + seed + "::UBIGINT))) AS m" + number);
        own.add("m" + number);
      }
      bands.add("hash(" + b + ", " + String.join(", ", own) + ")");
    }
    engine.run("CREATE TABLE bands (s UBIGINT, n BIGINT)");
    engine.run("CREATE TABLE batches AS SELECT n, row_number() OVER (ORDER BY n) AS i FROM kept");
    long rows = engine.number("SELECT count(*) FROM batches");
    for (long from = 0; from < rows; from += BATCH) {
      engine.run(
          "INSERT INTO bands SELECT unnest(["
              + String.join(", ", bands)
              + "]), n FROM (SELECT n, "
              + String.join(", ", least)
              + " FROM (SELECT n, unnest("
              + Texts.ngrams("words", NGRAM)
              + ") AS h FROM (SELECT n, "
              + words
              + " AS words FROM kept JOIN batches USING (n) WHERE i > "
              + from
              + " AND i <= "
              + (from + BATCH)
              + ")) GROUP BY n)");
    }
    engine.run("DROP TABLE batches");
  }

  /**
   * Makes the table {@code labels(n, label)} of the rows in pairs: the first row of the cluster.
   */
  private void clusters() {
    engine.run(
        "CREATE TABLE pairs AS SELECT s, n FROM bands WHERE s IN"
            + " (SELECT s FROM bands GROUP BY s HAVING count(*) > 1)");
    engine.run("DROP TABLE bands");
    engine.run("CREATE TABLE labels AS SELECT DISTINCT n, n AS label FROM pairs");
    boolean changed = true;
    while (changed) {
      // The least label in any of the row's buckets, then the label of that row: the second step
      // makes long chains short.
      engine.run(
          "CREATE TABLE least AS SELECT p.n, min(b.label) AS label FROM pairs p JOIN (SELECT s,"
              + " min(label) AS label FROM pairs JOIN labels USING (n) GROUP BY s) b USING (s)"
              + " GROUP BY p.n");
      engine.run(
          "CREATE TABLE better AS SELECT l.n, least(l.label, t.label) AS label FROM least l JOIN"
              + " least t ON t.n = l.label");
      changed =
          engine.number(
                  "SELECT count(*) FROM better JOIN labels o USING (n) WHERE better.label <> o.label")
              > 0;
      engine.run("DROP TABLE labels");
      engine.run("DROP TABLE least");
      engine.run("ALTER TABLE better RENAME TO labels");
    }
    engine.run("DROP TABLE pairs");
  }
}
