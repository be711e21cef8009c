package dev.nexa.slurm.command.evals;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.data.score.Leaderboard;
import dev.nexa.slurm.data.score.Leaderboard.Row;
import dev.nexa.slurm.data.score.MetricSummary;
import dev.nexa.slurm.data.stats.Interval;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** Formats a leaderboard. */
final class LeaderboardText {
  private LeaderboardText() {}

  /** Returns the rows under their columns. The deciding metric has its interval. */
  static Listing<Row> listing(Leaderboard board, boolean rounded) {
    Columns<Row> columns =
        new Columns<Row>()
            .number("rank", Row::rank)
            .text("run_id", Row::runId)
            .as("RUN")
            .text("model", Row::model)
            .text("judge", Row::judge)
            .rare();
    for (String metric : board.metrics()) {
      columns =
          columns.number(metric, row -> row.metric(metric).map(it -> number(it.value(), rounded)));
      if (metric.equals(board.sortedBy())) {
        columns =
            columns
                .number(metric + "_lower", row -> bound(row, metric, Interval::lower, rounded))
                .as("LOWER")
                .number(metric + "_upper", row -> bound(row, metric, Interval::upper, rounded))
                .as("UPPER")
                .number("n", row -> row.metric(metric).map(MetricSummary::n))
                .rare();
      }
    }
    columns = columns.number("unscored", Row::unscored).rare().text("evaluated", Row::evaluated);
    return columns.of(board.rows());
  }

  private static Optional<BigDecimal> bound(
      Row row, String metric, ToDoubleFunction<Interval> bound, boolean rounded) {
    return row.metric(metric)
        .flatMap(MetricSummary::interval)
        .map(it -> number(bound.applyAsDouble(it), rounded));
  }

  /** Tables show four digits after the point; documents hold ten digits. */
  private static BigDecimal number(double value, boolean rounded) {
    return rounded
        ? BigDecimal.valueOf(value).setScale(4, RoundingMode.HALF_EVEN)
        : MetricSummary.number(value);
  }

  static JsonObject json(Leaderboard board, List<String> problems) {
    return JsonObject.ofVersion(1)
        .with("sorted_by", board.sortedBy().isEmpty() ? null : board.sortedBy())
        .with("runs", listing(board, false).json())
        .with("problems", problems);
  }
}
