package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.Rows;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.rows.Source;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code data prepare}. Each row of all files is read and normalised, then kept or rejected. The
 * key of a row is the SHA-256 of its normalised text. The key decides which task has the row, which
 * split has it, whether it is sampled, and its place in the output. Therefore all tasks together
 * write the same rows in the same order for any number of tasks.
 */
public record Prepare(
    Engine engine, PrepareSettings settings, Share share, Progress progress, RawRows rawRows) {
  /** The split of all rows if the settings name none. */
  private static final String TRAIN = "train";

  public Prepare(Engine engine, PrepareSettings settings, Share share, Progress progress) {
    this(engine, settings, share, progress, new RawRows(engine, settings, share, progress));
  }

  /**
   * Prepares a dataset.
   *
   * @param input paths, patterns or folders of the raw files
   * @param against paths, patterns or folders of eval sets that no row may contain parts of
   * @param clusters the output of the step {@code clusters}; empty if this task finds the near
   *     duplicates itself
   * @param parts the output of {@code prepare} with {@code parts: true}; empty if this task reads
   *     the raw files itself
   * @return what the run's metrics get
   * @throws NexaException if a file cannot be read, or if a step needs one task and there are more
   */
  public JsonObject run(
      List<String> input,
      List<String> against,
      List<String> clusters,
      List<String> parts,
      Path folder) {
    settings.files().requests().ifPresent(requests -> new RequestQuery(settings).require());
    if (settings.stage().parts()) {
      if (settings.stage().signatures() || !clusters.isEmpty() || !parts.isEmpty()) {
        throw new IllegalArgumentException(
            "parts: true is the first stage: leave signatures, --clusters and --from-parts out");
      }
      Output output = Output.in(engine, folder, share, Parts.stems());
      return new Parts(engine, settings, share, progress)
          .write(InputFile.find(engine, input), output);
    }
    requireTasks(clusters);
    List<String> stems = new ArrayList<>(SharedSignatures.stems());
    stems.addAll(splits().keySet());
    stems.add("requests");
    Output output = Output.in(engine, folder, share, stems);
    List<InputFile> files = InputFile.find(engine, input);
    Rows rows =
        parts.isEmpty()
            ? rawRows.read(files)
            : new Parts(engine, settings, share, progress).read(files, parts);
    Map<String, Long> counts = new TreeMap<>();
    JsonObject details = new JsonObject();
    try (Running comparing = progress.begin(Phase.of("comparing rows", "steps", 4))) {
      reject(rows, against, clusters, details, comparing);
    }
    long kept = engine.number("SELECT count(*) FROM kept");
    try (Running writing = progress.begin(Phase.of("writing", "rows", kept))) {
      if (settings.stage().signatures()) {
        new SharedSignatures(engine, share).write(output);
      } else {
        write(output, counts, writing);
      }
    }
    output.rejects(Rows.rejectQuery("coalesce(x.start, left(d.text, 200)) AS start"));
    return output.report(rows, kept, counts, details);
  }

  /** Rejects rows that repeat others. DuckDB does not say how far it is within a step. */
  private void reject(
      Rows rows,
      List<String> against,
      List<String> clusters,
      JsonObject details,
      Running comparing) {
    if (settings.id().isPresent()) {
      rows.reject(
          "duplicate id",
          ("SELECT n, 'as ' || %s AS detail FROM kept JOIN ids USING (n) JOIN (SELECT id, min(n) AS"
                  + " first FROM ids GROUP BY id HAVING count(*) > 1) USING (id) WHERE n <> first")
              .formatted(Rows.place("first")));
    }
    if (settings.files().requests().isPresent()) {
      rows.reject("request too long", new RequestQuery(settings).tooLong());
    }
    comparing.done(1, 0);
    if (!against.isEmpty()) {
      details.with("contaminated_by_file", new EvalSets(engine, settings).reject(rows, against));
    }
    comparing.done(1, 0);
    if (settings.duplicates().exact()) {
      rows.reject(
          "duplicate",
          ("SELECT n, 'as ' || %s AS detail FROM kept JOIN (SELECT key, min(n) AS first FROM"
                  + " kept GROUP BY key HAVING count(*) > 1) USING (key) WHERE n <> first")
              .formatted(Rows.place("first")));
    }
    comparing.done(1, 0);
    if (settings.stage().signatures()) {
      new NearDuplicates(engine).bands(settings.textColumns());
    } else if (!clusters.isEmpty()) {
      new SharedSignatures(engine, share).labels(clusters);
      NearDuplicates.rejectLabelled(rows);
    } else if (settings.duplicates().near()) {
      new NearDuplicates(engine).reject(rows, settings.textColumns());
    }
    if (!settings.stage().signatures()) {
      sample(rows);
    }
    comparing.done(1, 0);
  }

  private void requireTasks(List<String> clusters) {
    boolean stages = settings.stage().signatures() || !clusters.isEmpty();
    if (stages && !settings.duplicates().near()) {
      throw new IllegalArgumentException(
          "signatures and --clusters are for near duplicates: set near_duplicates to true");
    }
    if (settings.stage().signatures() && !clusters.isEmpty()) {
      throw new IllegalArgumentException(
          "signatures: true writes what the step clusters needs; leave --clusters out");
    }
    if (settings.duplicates().near() && !stages && !share.all()) {
      throw oneTask(
          "near_duplicates",
          "leave `array` out, or find the near duplicates in four stages: " + StageFile.PAGE);
    }
    if (settings.sample().rows().isPresent() && !share.all()) {
      throw oneTask("sample.rows", "leave `array` out, or use sample.share");
    }
  }

  private NexaException oneTask(String step, String advice) {
    return ErrorCode.DATA_INVALID.error(
        "%s compares all rows with each other, so it needs one task; there are %s"
            .formatted(step, share.tasks()),
        advice);
  }

  private void sample(Rows rows) {
    String order = "sha256('sample:" + settings.seed() + ":' || key)";
    if (settings.sample().share().isPresent()) {
      String after = order + " >= '" + Fractions.hex(settings.sample().share().get()) + "'";
      rows.reject("not sampled", "SELECT n, NULL AS detail FROM kept WHERE " + after);
    }
    if (settings.sample().rows().isPresent()) {
      rows.reject(
          "not sampled",
          "SELECT n, NULL AS detail FROM kept ORDER BY %s, n OFFSET %s"
              .formatted(order, settings.sample().rows().get()));
    }
  }

  /** Returns SQL for the end of each split, as the first hex digits of a SHA-256. */
  private Map<String, String> splits() {
    return settings.files().split().isEmpty()
        ? Map.of(TRAIN, Fractions.END)
        : Fractions.ends(settings.files().split());
  }

  /** Writes the splits and requests. */
  private void write(Output output, Map<String, Long> counts, Running writing) {
    StringBuilder split = new StringBuilder("CASE");
    List<String> names = new ArrayList<>(splits().keySet());
    for (int i = 0; i < names.size(); i++) {
      split.append(" WHEN sha256('split:").append(settings.seed()).append(":' || key) < '");
      split.append(splits().get(names.get(i))).append("' THEN ").append(i);
    }
    split.append(" END");
    int columns = settings.columns().size();
    engine.run("SET preserve_insertion_order = true");
    String query = "SELECT " + split + " AS split, key, n FROM kept ORDER BY split, key, n";
    Output.Slices sorted =
        new SortedRows(engine, "final", query, columns, Source.renamed("", settings.columns()));
    long from = 0;
    for (int i = 0; i < names.size(); i++) {
      long rows = engine.number("SELECT count(*) FROM final WHERE split = " + i);
      counts.put("rows_" + names.get(i), rows);
      output.files(names.get(i), sorted.from(from), rows, settings.files().rowsPerFile(), false);
      writing.done(rows, 0);
      from += rows;
    }
    if (settings.files().requests().isPresent()) {
      // In the order of the splits, the files of several tasks would have another order.
      String asked = "SELECT key, n FROM final ORDER BY key, n";
      String select = new RequestQuery(settings).select();
      Output.Slices requests = new SortedRows(engine, "asked", asked, columns, select);
      int perFile = settings.files().requests().get().rowsPerFile();
      output.files("requests", requests, from, perFile, true);
    }
  }
}
