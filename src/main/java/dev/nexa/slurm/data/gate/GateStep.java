package dev.nexa.slurm.data.gate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.gate.Rule.NoWorse;
import dev.nexa.slurm.data.gate.Rule.Threshold;
import dev.nexa.slurm.data.score.MetricSummary;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/** The step {@code gate}: reads the evaluations, decides, and writes {@code gate.json}. */
public record GateStep(Engine engine, GateSettings settings, Path folder) {
  /** The verdict's file. */
  public static final String VERDICT = "gate.json";

  /**
   * Decides, and writes the verdict. Makes the folder.
   *
   * @param baseline empty if no rule compares with one
   * @throws NexaException if a file, a column or a needed baseline is missing
   */
  public static GateVerdict run(
      Engine engine,
      String candidate,
      Optional<String> baseline,
      Path folder,
      GateSettings settings) {
    DurableFiles.onDisk().directories(folder);
    GateStep step = new GateStep(engine, settings, folder);
    Evaluated one = Evaluated.open(engine, "candidate", candidate, settings.id());
    Optional<Evaluated> other =
        baseline.map(path -> Evaluated.open(engine, "baseline", path, settings.id()));
    List<RuleVerdict> verdicts =
        settings.rules().stream()
            .map(
                rule ->
                    rule.condition() instanceof Threshold threshold
                        ? step.threshold(rule, threshold, one)
                        : step.noWorse(rule, (NoWorse) rule.condition(), one, other))
            .toList();
    GateVerdict verdict = new GateVerdict(settings, verdicts);
    DurableFiles.onDisk()
        .replace(folder.resolve(VERDICT), Json.pretty(verdict.json(candidate, baseline)));
    return verdict;
  }

  /** Returns the metrics for {@code NEXA_METRICS}. */
  public static JsonObject metrics(
      GateVerdict verdict, String candidate, Optional<String> baseline) {
    return new JsonObject()
        .with("gate_passed", verdict.passed())
        .with("gate", verdict.json(candidate, baseline));
  }

  private RuleVerdict threshold(Rule rule, Threshold threshold, Evaluated candidate) {
    if (candidate.items().isEmpty()) {
      return Gate.threshold(
          rule, threshold, candidate.summarized(rule), candidate.unscored(), settings);
    }
    String query = candidate.values(rule);
    double[] values =
        numbers("SELECT v FROM (" + query + ") WHERE v IS NOT NULL ORDER BY item_id", 1)[0];
    long missing = engine.number("SELECT count(*) FROM (" + query + ") WHERE v IS NULL");
    Optional<MetricSummary> metric =
        MetricSummary.of(rule.metric(), values, rule.higherIsBetter(), settings.seed());
    return Gate.threshold(rule, threshold, metric, missing, settings);
  }

  private RuleVerdict noWorse(
      Rule rule, NoWorse wanted, Evaluated candidate, Optional<Evaluated> baseline) {
    if (baseline.isEmpty()) {
      throw ErrorCode.DATA_INVALID.error(
          "rules: " + rule.metric() + " has no_worse, but there is no baseline",
          "name the baseline's items: --baseline PATH, or data.gate.baseline");
    }
    String joined =
        ("(SELECT coalesce(c.item_id, b.item_id) AS id, c.v AS cv, b.v AS bv FROM (%s) AS c"
                + " FULL JOIN (%s) AS b ON c.item_id = b.item_id)")
            .formatted(candidate.values(rule), baseline.get().values(rule));
    double[][] pairs =
        numbers(
            "SELECT cv, bv FROM " + joined + " WHERE cv IS NOT NULL AND bv IS NOT NULL ORDER BY id",
            2);
    String count = "SELECT count(*) FROM " + joined + " WHERE ";
    Pairs matched =
        new Pairs(
            pairs[0],
            pairs[1],
            engine.number(count + "cv IS NOT NULL AND bv IS NULL"),
            engine.number(count + "cv IS NULL AND bv IS NOT NULL"),
            engine.number(count + "cv IS NULL AND bv IS NULL"));
    return Gate.noWorse(rule, wanted, matched, settings);
  }

  /** Returns the columns of a query, 8 bytes a number. They travel through a file, not a result. */
  private double[][] numbers(String query, int columns) {
    Path file = folder.resolve(".gate.csv.tmp");
    engine.writeInOrder(query, file, "FORMAT csv, HEADER false");
    List<DoubleStream.Builder> numbers =
        Stream.generate(DoubleStream::builder).limit(columns).toList();
    try (BufferedReader in = Files.newBufferedReader(file)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] cells = line.split(",", -1);
        for (int i = 0; i < columns; i++) {
          numbers.get(i).add(Double.parseDouble(cells[i]));
        }
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
    DurableFiles.onDisk().unmark(file);
    return numbers.stream().map(column -> column.build().toArray()).toArray(double[][]::new);
  }
}
