package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.data.engine.Engine;

/**
 * Turns buckets of rows into clusters, with tables of DuckDB. Data that does not fit into the
 * memory goes to the scratch. The number of steps grows with the logarithm of the longest chain.
 */
record Clusters(Engine engine) {
  /** Makes the empty table {@code pairs(n, first)}. */
  void begin() {
    engine.run("CREATE TABLE pairs (n BIGINT, first BIGINT)");
  }

  /**
   * Adds a pair for each row that is not the first of its bucket: the row and the first.
   *
   * @param buckets a relation with a row {@code (s, n)} for each row of a bucket
   */
  void addPairs(String buckets) {
    engine.run(
        ("INSERT INTO pairs SELECT n, first FROM %s JOIN (SELECT s, min(n) AS first FROM %s"
                + " GROUP BY s HAVING count(*) > 1) USING (s) ANTI JOIN pairs USING (n, first) WHERE n"
                + " <> first")
            .formatted(buckets, buckets));
  }

  /**
   * Makes the table {@code labels(n, label)}: for each row that is not the first of its cluster,
   * the label is the first row. Removes the table {@code pairs}.
   */
  void label() {
    engine.run("ALTER TABLE pairs RENAME TO edges");
    engine.run("CREATE TABLE labels (n BIGINT, label BIGINT)");
    while (engine.number("SELECT count(*) FROM edges") > 0) {
      engine.run("CREATE TABLE parents AS SELECT n, min(first) AS label FROM edges GROUP BY n");
      shorten();
      engine.run(
          "CREATE TABLE longer AS SELECT l.n, coalesce(p.label, l.label) AS label FROM labels l"
              + " LEFT JOIN parents p ON p.n = l.label UNION ALL SELECT n, label FROM parents");
      replace("labels", "longer");
      // The edges that are left connect the first rows of different clusters.
      engine.run(
          "CREATE TABLE left_over AS SELECT DISTINCT greatest(a, b) AS n, least(a, b) AS first FROM"
              + " (SELECT p.label AS a, coalesce(q.label, e.first) AS b FROM edges e JOIN parents p"
              + " ON p.n = e.n LEFT JOIN parents q ON q.n = e.first) WHERE a <> b");
      replace("edges", "left_over");
      engine.run("DROP TABLE parents");
    }
    engine.run("DROP TABLE edges");
  }

  /** Makes each parent a row without a parent. */
  private void shorten() {
    boolean changed = true;
    while (changed) {
      engine.run(
          "CREATE TABLE shorter AS SELECT p.n, coalesce(q.label, p.label) AS label,"
              + " q.label IS NOT NULL AS changed FROM parents p LEFT JOIN parents q ON q.n = p.label");
      changed = engine.number("SELECT count(*) FROM shorter WHERE changed") > 0;
      replace("parents", "shorter");
    }
  }

  private void replace(String table, String by) {
    engine.run("DROP TABLE " + table);
    engine.run("ALTER TABLE " + by + " RENAME TO " + table);
  }
}
