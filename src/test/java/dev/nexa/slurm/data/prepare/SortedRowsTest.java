package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Output;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Large slices, which are fetched for their own file, and small ones, which are fetched together.
 */
class SortedRowsTest {
  private static final int ROWS = 250_000;

  @TempDir Path folder;

  @Test
  void eachSliceHasTheRowsOfItsPlacesInOrder() {
    try (Engine engine = Engine.open(new Limits(512L << 20, 2, folder.resolve("scratch")))) {
      engine.run("SET preserve_insertion_order = true");
      engine.run(
          "CREATE TABLE data AS SELECT r AS n, sha256((r // 2)::VARCHAR) AS key, 'text ' || r AS c0"
              + " FROM range("
              + ROWS
              + ") t(r)");
      // A third of the rows is rejected, and the keys are in two splits.
      engine.run("CREATE VIEW kept AS SELECT * FROM data WHERE n % 3 <> 0");
      String query = "SELECT n // 2 % 7 = 0 AS split, key, n FROM kept ORDER BY split, key, n";
      Output.Slices sorted = new SortedRows(engine, "final", query, 1, "key, c0 AS text");
      engine.run("CREATE TABLE expected AS " + query.replace(" FROM", ", c0 FROM"));
      long count = engine.number("SELECT count(*) FROM expected");
      for (List<Long> slice :
          List.of(
              List.of(0L, 120_000L),
              List.of(20_000L, count),
              List.of(0L, 5_000L),
              List.of(5_000L, 10_000L),
              List.of(99_000L, 104_000L),
              List.of(140_000L, 150_000L),
              List.of(count - 10, count),
              List.of(0L, 0L))) {
        String places = " WHERE rowid >= " + slice.get(0) + " AND rowid < " + slice.get(1);
        assertThat(engine.rows(sorted.query(slice.get(0), slice.get(1))))
            .as("%s of %d", slice, count)
            .isEqualTo(engine.rows("SELECT key, c0 FROM expected" + places + " ORDER BY rowid"));
      }
    }
  }
}
