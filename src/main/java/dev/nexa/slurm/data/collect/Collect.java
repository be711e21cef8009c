package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Column;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.Rows;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.rows.Source;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code data collect}. The rows are the requests. An answer belongs to the request with its {@code
 * custom_id}, wherever it stands. A request without an answer is rejected, and written as a request
 * again.
 */
public final class Collect {
  private static final String STEM = "generated";

  private static final List<Column> REQUEST =
      List.of(
          new Column("custom_id", Column.Type.TEXT, false),
          new Column("method", Column.Type.TEXT, false),
          new Column("url", Column.Type.TEXT, false),
          new Column("body", Column.Type.JSON, false));

  private static final List<Column> ANSWER =
      List.of(
          new Column("custom_id", Column.Type.TEXT, false),
          new Column("response", Column.Type.JSON, true),
          new Column("error", Column.Type.JSON, true));

  private final Engine engine;
  private final CollectSettings settings;
  private final Share share;

  public Collect(Engine engine, CollectSettings settings, Share share) {
    this.engine = engine;
    this.settings = settings;
    this.share = share;
  }

  /**
   * Collects answers.
   *
   * @param requests paths, patterns or folders of request files
   * @param answers the same of output files
   * @return what the run's metrics get
   * @throws NexaException if more requests than {@code max_failed} have no answer; the files are
   *     written all the same
   */
  public JsonObject run(List<String> requests, List<String> answers, Path folder) {
    Output output = Output.in(engine, folder, share, List.of(STEM, "requests"));
    Rows rows = requests(InputFile.find(engine, requests));
    Map<String, Long> counts = answers(InputFile.find(engine, answers));
    match(rows);
    engine.run("SET preserve_insertion_order = true");
    engine.run(
        "CREATE TABLE final AS SELECT kept.*, a.text, a.finish, a.model, a.prompt_tokens, a.completion_tokens"
            + " FROM kept JOIN best a ON a.id = kept.c0 ORDER BY key, n");
    long good = engine.number("SELECT count(*) FROM final");
    output.files(
        STEM,
        "final",
        "c0 AS custom_id, c3->'$.messages' AS messages, text AS answer, finish AS finish_reason, finish ="
            + " 'length' AS truncated, model, prompt_tokens, completion_tokens",
        0,
        good,
        settings.rowsPerFile(),
        false);
    engine.run(
        "CREATE TABLE again AS SELECT d.* FROM data d JOIN rejects x USING (n) WHERE x.reason IN"
            + " ('missing', 'failed', 'truncated') ORDER BY key, n");
    long again = engine.number("SELECT count(*) FROM again");
    if (again > 0) {
      String line = "c0 AS custom_id, c1 AS method, c2 AS url, c3 AS body";
      output.files("requests", "again", line, 0, again, settings.requestsPerFile(), true);
    }
    counts.put("truncated", engine.number("SELECT count(*) FROM final WHERE finish = 'length'"));
    counts.put("prompt_tokens", engine.number("SELECT sum(prompt_tokens)::BIGINT FROM final"));
    counts.put(
        "completion_tokens", engine.number("SELECT sum(completion_tokens)::BIGINT FROM final"));
    output.rejects(Rows.rejectQuery(List.of("d.c0 AS custom_id", "x.start")));
    JsonObject metrics = output.report(rows, good, counts, new JsonObject());
    requireAnswers(metrics, again);
    return metrics;
  }

  private Rows requests(List<InputFile> files) {
    Rows rows = Rows.of(engine, files);
    engine.run(
        "CREATE TABLE data (n BIGINT, key VARCHAR, bad VARCHAR, c0 VARCHAR, c1 VARCHAR, c2 VARCHAR, c3 JSON)");
    Source source = new Source(engine, REQUEST, settings.maxRow());
    for (int f = 0; f < files.size(); f++) {
      source.open(files.get(f));
      engine.run(
          "INSERT INTO data SELECT * FROM (SELECT "
              + Rows.number(f)
              + " AS n, sha256(coalesce('i' || c0, 'n' || n)) AS key, bad, c0, c1, c2, c3 FROM source) WHERE "
              + share.owns("key"));
      rows.rejectUnread(f, "broken JSON", "no JSON object");
      if (files.get(f).format() == InputFile.Format.JSONL) {
        rows.findLines(f, files.get(f).path(), engine.number("SELECT count(*) FROM source"));
      }
    }
    source.close();
    rows.keep();
    rows.reject(
        "duplicate id",
        "SELECT n, 'as ' || "
            + Rows.place("first")
            + " AS detail FROM kept JOIN (SELECT c0, min(n) AS first FROM kept GROUP BY c0 HAVING count(*) > 1)"
            + " USING (c0) WHERE n <> first");
    return rows;
  }

  /**
   * Makes the table {@code best} with one answer for each id: the first that is good, else the
   * first. Returns what is wrong with the output files.
   */
  private Map<String, Long> answers(List<InputFile> files) {
    engine.run(
        "CREATE TABLE answers (n BIGINT, id VARCHAR, good BOOLEAN, failure VARCHAR, text VARCHAR, finish"
            + " VARCHAR, model VARCHAR, prompt_tokens BIGINT, completion_tokens BIGINT)");
    Map<String, Long> counts = new TreeMap<>();
    long broken = 0;
    Source source = new Source(engine, ANSWER, settings.maxRow());
    for (int f = 0; f < files.size(); f++) {
      source.open(files.get(f));
      // The error is a text in some lines and an object in others; the response may hold one, too.
      engine.run(
          "INSERT INTO answers SELECT n, id, failure IS NULL, failure, text, finish, model, pt, ct FROM (SELECT *,"
              + " CASE WHEN error IS NOT NULL THEN coalesce(error->>'$.error.message', error->>'$.message', error->>'$')"
              + " WHEN status IS DISTINCT FROM 200 THEN 'status ' || coalesce(status::VARCHAR, 'missing') ||"
              + " coalesce(': ' || (c1->>'$.body.error.message'), '') WHEN text IS NULL THEN 'no text in the answer' END"
              + " AS failure FROM (SELECT "
              + Rows.number(f)
              + " AS n, c0 AS id, c1, CASE WHEN json_type(c2) <> 'NULL' THEN c2 END AS error,"
              + " TRY_CAST(c1->>'$.status_code' AS INTEGER) AS status,"
              + " c1->>'$.body.choices[0].message.content' AS text,"
              + " c1->>'$.body.choices[0].finish_reason' AS finish, c1->>'$.body.model' AS model,"
              + " TRY_CAST(c1->>'$.body.usage.prompt_tokens' AS BIGINT) AS pt,"
              + " TRY_CAST(c1->>'$.body.usage.completion_tokens' AS BIGINT) AS ct FROM source WHERE bad IS NULL))");
      broken += engine.number("SELECT count(*) FROM source WHERE bad IS NOT NULL");
    }
    source.close();
    String own = "SELECT * FROM answers WHERE id IN (SELECT c0 FROM kept)";
    engine.run(
        "CREATE TABLE best AS SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY good DESC, n) AS"
            + " place FROM ("
            + own
            + ")) WHERE place = 1");
    counts.put(
        "answers_repeated",
        engine.number("SELECT count(*) - count(DISTINCT id) FROM (" + own + ")"));
    if (share.task() == 0) {
      // Other tasks would count the same lines again.
      counts.put("answers_broken", broken);
    }
    return counts;
  }

  private void match(Rows rows) {
    rows.reject(
        "missing",
        "SELECT n, NULL AS detail FROM kept WHERE NOT EXISTS (SELECT 1 FROM best WHERE id = c0)");
    rows.reject(
        "failed",
        "SELECT kept.n, left(failure, 500) AS detail FROM kept JOIN best ON id = c0 WHERE NOT good");
    if (!settings.keepTruncated()) {
      rows.reject(
          "truncated",
          "SELECT kept.n, completion_tokens || ' tokens' AS detail FROM kept JOIN best ON id = c0 WHERE finish ="
              + " 'length'");
    }
  }

  private void requireAnswers(JsonObject metrics, long again) {
    long all = metrics.number("rows_in");
    if (settings.maxFailed().isPresent()
        && BigDecimal.valueOf(again)
                .compareTo(settings.maxFailed().get().multiply(BigDecimal.valueOf(all)))
            > 0) {
      throw new NexaException(
          ErrorCode.DATA_INVALID,
          again
              + " of "
              + all
              + " requests have no answer, more than max_failed, which is "
              + settings.maxFailed().get(),
          Advice.step(
              "rejects-*.parquet has each reason; requests-*.jsonl has the requests to send again"));
    }
  }
}
