package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * All evaluated runs, the best first.
 *
 * @param sortedBy the metric that decides the order; empty if there are no runs
 * @param metrics the names of all metrics: first the deciding metric, then the others in order
 * @param rows the runs; runs without the deciding metric come last
 */
public record Leaderboard(String sortedBy, List<String> metrics, List<Row> rows) {
  /**
   * An evaluated run.
   *
   * @param rank its place, from 1; equal values have equal ranks; empty without the deciding metric
   * @param metrics by name
   */
  public record Row(
      Optional<Integer> rank,
      String runId,
      Optional<String> model,
      Optional<String> judge,
      String evaluated,
      long items,
      long unscored,
      Map<String, MetricSummary> metrics) {
    private Row at(Optional<Integer> place) {
      return new Row(place, runId, model, judge, evaluated, items, unscored, metrics);
    }

    /** Returns a metric; empty if the run has none of this name. */
    public Optional<MetricSummary> metric(String name) {
      return Optional.ofNullable(metrics.get(name));
    }
  }

  /**
   * Sorts the runs. If a run has several evaluations, each metric comes from the newest evaluation
   * that has it.
   *
   * @param sort the deciding metric; empty for {@code dss}, or the first metric if no run has it
   * @throws NexaException if no run has the deciding metric
   */
  public static Leaderboard of(Collection<EvalSummary> summaries, Optional<String> sort) {
    Map<String, List<EvalSummary>> byRun = new LinkedHashMap<>();
    summaries.stream()
        .sorted(Comparator.comparing(EvalSummary::evaluated).reversed())
        .forEach(it -> byRun.computeIfAbsent(it.runId(), id -> new ArrayList<>()).add(it));
    TreeSet<String> names = new TreeSet<>();
    summaries.forEach(it -> it.metrics().forEach(metric -> names.add(metric.name())));
    if (names.isEmpty()) {
      return new Leaderboard("", List.of(), List.of());
    }
    String first = sort.orElse(names.contains(ScoreOptions.DSS) ? ScoreOptions.DSS : names.first());
    if (!names.contains(first)) {
      throw ErrorCode.OPTION_INVALID.error(
          "no evaluated run has the metric '" + first + "'" + Nearest.hint(first, names),
          "the metrics are " + String.join(", ", names));
    }
    Set<String> metrics = new LinkedHashSet<>(List.of(first));
    metrics.addAll(names);
    List<Row> rows = new ArrayList<>();
    byRun.forEach((id, all) -> rows.add(row(id, all)));
    rows.sort(order(first));
    return new Leaderboard(first, List.copyOf(metrics), ranked(rows, first));
  }

  private static Row row(String id, List<EvalSummary> newestFirst) {

    Map<String, MetricSummary> metrics = new LinkedHashMap<>();
    Optional<String> model = Optional.empty();
    Optional<String> judge = Optional.empty();
    long items = 0;
    long unscored = 0;
    for (EvalSummary summary : newestFirst) {
      summary.metrics().forEach(metric -> metrics.putIfAbsent(metric.name(), metric));
      model = model.or(summary::model);
      judge = judge.or(summary::judge);
      if (items == 0) {
        items = summary.items();
        unscored = summary.unscored();
      }
    }
    String evaluated = newestFirst.get(0).evaluated().toString();
    return new Row(Optional.empty(), id, model, judge, evaluated, items, unscored, metrics);
  }

  private static Comparator<Row> order(String metric) {
    return Comparator.comparingDouble(
            (Row row) ->
                row.metric(metric)
                    .map(it -> it.higherIsBetter() ? -it.value() : it.value())
                    .orElse(Double.POSITIVE_INFINITY))
        .thenComparing(Row::runId);
  }

  private static List<Row> ranked(List<Row> rows, String metric) {
    List<Row> ranked = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      Row row = rows.get(i);
      Optional<Double> value = row.metric(metric).map(MetricSummary::value);
      int place = i + 1;
      boolean same =
          i > 0 && value.equals(rows.get(i - 1).metric(metric).map(MetricSummary::value));
      ranked.add(row.at(same ? ranked.get(i - 1).rank() : value.map(any -> place)));
    }
    return ranked;
  }

  /** Returns the judges, if there are several: their scores cannot be compared. */
  public Set<String> judges() {
    Set<String> judges = new TreeSet<>();
    rows.forEach(row -> row.judge().ifPresent(judges::add));
    return judges.size() > 1 ? judges : Set.of();
  }
}
