package dev.nexa.slurm.data.gate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.score.EvalSummary;
import dev.nexa.slurm.data.score.Items;
import dev.nexa.slurm.data.score.LmEvalResults;
import dev.nexa.slurm.data.score.MetricSummary;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The values of one side of a gate: a table of items, or a summary without items.
 *
 * @param shown its path, for messages
 * @param view the table's name in DuckDB
 * @param items the table; empty for a summary
 * @param summary empty for a table
 */
record Evaluated(String shown, String view, Optional<Items> items, Optional<EvalSummary> summary) {
  private static final String ID = "item_id";

  /**
   * Opens a file.
   *
   * @param path a table of items (.parquet or .jsonl), a folder with science_eval_*.parquet, a
   *     summary science_eval_RUN.json, or lm_eval's results_*.json
   * @param id the columns that name an item; empty to use the usual column
   */
  static Evaluated open(Engine engine, String view, String path, List<String> id) {
    if (path.endsWith(".json")) {
      return new Evaluated(path, view, Optional.empty(), Optional.of(summary(Path.of(path))));
    }
    Items items = Items.open(engine, view + "_files", List.of(path));
    String usual = items.has("doc_id") && !items.has("custom_id") ? "doc_id" : "custom_id";
    List<String> columns = id.isEmpty() ? List.of(usual) : id;
    String key =
        columns.stream()
            .map(column -> Sql.name(items.require(column, "data.gate.id")) + "::VARCHAR")
            .collect(Collectors.joining(", '/', ", "concat(", ")"));
    String source =
        "SELECT *, CASE WHEN %s THEN NULL ELSE %s END AS %s FROM %s_files"
            .formatted(
                columns.stream()
                    .map(column -> Sql.name(column) + " IS NULL")
                    .collect(Collectors.joining(" OR ")),
                key,
                ID,
                view);
    engine.run("CREATE OR REPLACE TEMP VIEW " + view + " AS " + source);
    if (engine.number("SELECT count(*) FROM " + view + " WHERE " + ID + " IS NULL") > 0) {
      throw ErrorCode.DATA_INVALID.error(
          path + ": an item has no id under " + String.join(", ", columns),
          "items are matched by their id, so each item needs one");
    }
    items.requireUnique(view, ID);
    return new Evaluated(path, view, Optional.of(items), Optional.empty());
  }

  private static EvalSummary summary(Path file) {
    return LmEvalResults.parse(DurableFiles.read(file)).members().containsKey("results")
        ? LmEvalResults.read(file, "", Instant.EPOCH)
        : EvalSummary.read(file);
  }

  /** Returns the SQL of a query for {@code item_id} and {@code v}, a number or NULL. */
  String values(Rule rule) {
    if (items.isEmpty()) {
      throw ErrorCode.DATA_INVALID.error(
          shown + " has no items; rule no_worse compares the same items of two evaluations",
          "name the .parquet of `data score`, or lm_eval's samples_*.jsonl");
    }
    String column = Sql.name(items.get().require(rule.metric(), "data.gate.rules"));
    String number = "TRY_CAST(" + column + " AS DOUBLE)";
    return "SELECT %s, CASE WHEN isfinite(%s) THEN %s END AS v FROM %s"
        .formatted(ID, number, number, view);
  }

  /** Returns the metric of a summary; empty if it has none of this name. */
  Optional<MetricSummary> summarized(Rule rule) {
    return summary.flatMap(it -> it.metric(rule.metric()));
  }

  /** Returns a summary's items without a score; 0 for a table. */
  long unscored() {
    return summary.map(EvalSummary::unscored).orElse(0L);
  }
}
