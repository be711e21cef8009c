package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.rows.Column;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Rows;
import dev.nexa.slurm.data.rows.Source;
import java.util.List;

/** Rejects rows that share an n-gram of words with a row of an eval set. */
record EvalSets(Engine engine, PrepareSettings settings) {
  /** Rejects the rows, and returns for each file how many rows share an n-gram with it. */
  JsonObject reject(Rows rows, List<String> against) {
    List<InputFile> files = InputFile.find(engine, against);
    List<Column> columns =
        settings.evals().columns().stream()
            .map(name -> new Column(name, Column.Type.TEXT, true))
            .toList();
    String text = "concat_ws(' ', " + Source.names(columns.size()) + ")";
    String words = Texts.wordHashes(Texts.normalized(text));
    String ngrams = Texts.ngrams("words", settings.evals().ngram());
    engine.run("CREATE TABLE eval_grams (h UBIGINT, e INTEGER)");
    Source source = new Source(engine, columns, settings.maxRow());
    for (int e = 0; e < files.size(); e++) {
      source.open(files.get(e));
      source.requireRows(files.get(e), "decontaminate.columns");
      engine.run(
          ("INSERT INTO eval_grams SELECT DISTINCT unnest(%s) AS h, %s FROM (SELECT %s AS"
                  + " words FROM source WHERE bad IS NULL) WHERE words <> %s")
              .formatted(ngrams, e, words, Texts.NO_WORDS));
    }
    source.close();
    engine.run(
        ("CREATE TABLE shared AS SELECT n, e, count(*) AS grams FROM (SELECT n,"
                + " unnest(list_distinct(%s)) AS h FROM (SELECT n, %s AS words FROM kept)) JOIN"
                + " eval_grams USING (h) GROUP BY n, e")
            .formatted(ngrams, Texts.wordHashes("text")));
    JsonObject counts = new JsonObject();
    StringBuilder path = new StringBuilder("CASE arg_max(e, grams)");
    for (int e = 0; e < files.size(); e++) {
      counts.with(files.get(e).path(), engine.number("SELECT count(*) FROM shared WHERE e = " + e));
      path.append(" WHEN " + e + " THEN " + Sql.text(files.get(e).path()));
    }
    rows.reject(
        "contaminated",
        ("SELECT n, 'shares ' || max(grams) || ' n-grams with ' || %s END AS detail FROM shared"
                + " GROUP BY n")
            .formatted(path));
    return counts;
  }
}
