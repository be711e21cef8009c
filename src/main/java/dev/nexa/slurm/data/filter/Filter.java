package dev.nexa.slurm.data.filter;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.Rows;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.rows.Source;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * {@code data filter}. A row has a key: the SHA-256 of its group for {@code best_of}, else of its
 * file's and its own number. The key decides which task has the row, so a group is never divided,
 * and the order of the output.
 */
public record Filter(Engine engine, FilterSettings settings, Share share) {
  private static final String STEM = "filtered";

  /**
   * Filters files.
   *
   * @param input paths, patterns or folders
   * @return what the run's metrics get
   */
  public JsonObject run(List<String> input, Path folder) {
    Output output = Output.in(engine, folder, share, List.of(STEM, Conversations.STEM));
    Rows rows = read(InputFile.find(engine, input));
    Optional<Conversations> conversations =
        settings.conversations() ? Optional.of(Conversations.of(settings)) : Optional.empty();
    conversations.ifPresent(of -> rows.reject("no conversation", of.unusable()));
    rules(rows);
    settings.agreement().ifPresent(most -> agreement(rows, most));
    settings.best().ifPresent(kept -> best(rows, kept));
    engine.run("SET preserve_insertion_order = true");
    engine.run("CREATE TABLE final AS SELECT * FROM kept ORDER BY key, n");
    long kept = engine.number("SELECT count(*) FROM final");
    Output.Slices all = Output.Slices.of("final", Source.renamed("", settings.columns()));
    output.files(STEM, all, kept, settings.rowsPerFile(), false);
    if (conversations.isPresent()) {
      Output.Slices asMessages = Output.Slices.of("final", conversations.get().messages());
      output.files(Conversations.STEM, asMessages, kept, settings.rowsPerFile(), false);
    }
    output.rejects(Rows.rejectQuery("x.start, " + Source.renamed("d.", settings.columns())));
    return output.report(rows, kept, Map.of(), new JsonObject());
  }

  private Rows read(List<InputFile> files) {
    Rows rows = Rows.of(engine, files);
    engine.run(
        "CREATE TABLE data (n BIGINT, key VARCHAR, bad VARCHAR, %s)"
            .formatted(Source.typed(settings.columns())));
    String names = Source.names(settings.columns().size());
    String grouped = settings.best().map(best -> settings.column(best.key())).orElse("NULL");
    Source source = new Source(engine, settings.columns(), settings.maxRow());
    for (int f = 0; f < files.size(); f++) {
      Rows.Place file = new Rows.Place(f, 0, 0);
      source.open(files.get(f));
      // A row without a group is a group of its own.
      engine.run(
          ("INSERT INTO data SELECT * FROM (SELECT %s AS n, sha256(coalesce('g' ||"
                  + " %s::VARCHAR, 'n' || n)) AS key, bad, %s FROM source) WHERE %s")
              .formatted(Rows.number(file), grouped, names, share.owns("key")));
      rows.rejectUnread(f, "broken JSON", "no JSON object");
      if (files.get(f).format() == InputFile.Format.JSONL) {
        rows.findLines(file, files.get(f).path(), engine.number("SELECT count(*) FROM source"));
      }
    }
    source.close();
    rows.keep();
    return rows;
  }

  private void rules(Rows rows) {
    if (!settings.rules().isEmpty()) {
      String failures =
          settings.rules().stream()
              .map(rule -> new RuleSql(rule, settings).failures())
              .collect(Collectors.joining(" "));
      rows.reject(
          "rule",
          "SELECT * FROM (SELECT n, CASE %s END AS detail FROM kept) WHERE detail IS NOT NULL"
              .formatted(failures));
    }
  }

  private void agreement(Rows rows, FilterSettings.Agreement agreement) {
    List<String> judges = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String name : agreement.columns()) {
      String column = settings.column(name);
      judges.add(column + "::DOUBLE");
      missing.add("WHEN " + column + " IS NULL THEN " + Sql.text(name + " is missing"));
    }
    String list = "[" + String.join(", ", judges) + "]";
    String most = agreement.most().toPlainString();
    rows.reject(
        "disagreement",
        ("SELECT * FROM (SELECT n, CASE %s WHEN list_max(%s) - list_min(%s) > %s THEN 'from ' ||"
                + " list_min(%s) || ' to ' || list_max(%s) END AS detail FROM kept) WHERE detail"
                + " IS NOT NULL")
            .formatted(String.join(" ", missing), list, list, most, list, list));
  }

  /** Of equal values the first row is better; a row without a value is the worst. */
  private void best(Rows rows, FilterSettings.Best best) {

    rows.reject(
        "not best",
        ("SELECT n, 'place ' || place AS detail FROM (SELECT n, row_number() OVER (PARTITION BY"
                + " coalesce('g' || %s::VARCHAR, 'n' || n) ORDER BY %s DESC NULLS LAST, n) AS"
                + " place FROM kept) WHERE place > %s")
            .formatted(settings.column(best.key()), settings.column(best.by()), best.keep()));
  }
}
