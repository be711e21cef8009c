package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Rows;
import dev.nexa.slurm.data.rows.Source;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds similar texts with MinHash: 14 bands of 8 hashes over the 5-grams of words. The similarity
 * of two texts is s, the Jaccard similarity of their sets of 5-grams. The two texts are a pair with
 * the probability 1 - (1 - s^8)^14. This probability is about 0.5 for s = 0.71, and 0.92 for s =
 * 0.8. A cluster is a set of rows that pairs connect. Its first row stays.
 *
 * <p>A text without a word is not compared.
 */
record NearDuplicates(Engine engine) {
  static final int BANDS = 14;
  static final int HASHES = 8;
  static final int NGRAM = 5;

  /** The hashes of this many rows are computed at once: the hashes of a row take 2 KiB. */
  private static final int BATCH = 50_000;

  /** Rejects the rows of {@code kept} that are similar to an earlier row of {@code kept}. */
  void reject(Rows rows, List<Integer> text) {
    bands(text);
    Clusters clusters = new Clusters(engine);
    clusters.begin();
    for (int band = 0; band < BANDS; band++) {
      clusters.addPairs("(SELECT s, n FROM bands WHERE band = " + band + ")");
    }
    engine.run("DROP TABLE bands");
    clusters.label();
    rejectLabelled(rows);
  }

  /** Rejects the rows of the table {@code labels(n, label)}. */
  static void rejectLabelled(Rows rows) {
    rows.reject(
        "near duplicate",
        "SELECT n, 'like ' || %s AS detail FROM labels SEMI JOIN kept USING (n)"
            .formatted(Rows.place("label")));
  }

  /**
   * Makes the table {@code bands(band, s, n)} with 14 rows for each row of {@code kept}. Texts with
   * a common {@code s} are a pair.
   */
  void bands(List<Integer> text) {
    String words = Texts.wordHashes("concat_ws(' ', " + Source.names(text) + ")");
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
    String all = String.join(", ", bands);
    String leasts = String.join(", ", least);
    String ngrams = Texts.ngrams("words", NGRAM);
    engine.run("CREATE TABLE bands (band UTINYINT, s UBIGINT, n BIGINT)");
    // A range of row numbers reads only its part of the table, which may lie on the disk.
    String after = "-1";
    for (String last :
        engine.column(
            "SELECT max(n) FROM (SELECT n, (row_number() OVER (ORDER BY n) - 1) // "
                + BATCH
                + " AS batch FROM kept) GROUP BY batch ORDER BY 1")) {
      engine.run(
          ("INSERT INTO bands SELECT unnest(range(%s)), unnest([%s]), n FROM (SELECT n, %s FROM"
                  + " (SELECT n, unnest(%s) AS h FROM (SELECT n, %s AS words FROM kept WHERE n >"
                  + " %s AND n <= %s) WHERE words <> %s) GROUP BY n)")
              .formatted(BANDS, all, leasts, ngrams, words, after, last, Texts.NO_WORDS));
      after = last;
    }
  }
}
