package dev.nexa.slurm.data.score;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class LeaderboardTest {
  private static final Instant DAY = Instant.parse("2026-11-22T00:00:00Z");

  private static EvalSummary summary(String run, int hour, String judge, Object... metrics) {
    List<MetricSummary> all = new ArrayList<>();
    for (int i = 0; i < metrics.length; i += 2) {
      String name = (String) metrics[i];
      boolean higher = !name.equals("toxicity");
      double value = (Double) metrics[i + 1];
      all.add(new MetricSummary(name, value, 9, OptionalDouble.empty(), Optional.empty(), higher));
    }
    return new EvalSummary(
        run,
        Optional.empty(),
        "judge",
        Optional.of(judge).filter(it -> !it.isEmpty()),
        DAY.plusSeconds(hour * 3600L),
        10,
        1,
        Optional.of(42L),
        all);
  }

  @Test
  void theBestRunIsFirstAndEqualRunsShareARank() {
    Leaderboard board =
        Leaderboard.of(
            List.of(
                summary("low", 1, "j", "dss", 3.0, "toxicity", 1.0),
                summary("high", 1, "j", "dss", 4.0, "toxicity", 3.0),
                summary("none", 1, "", "acc", 0.9),
                summary("also", 1, "j", "dss", 3.0, "toxicity", 2.0)),
            Optional.empty());

    assertThat(board.sortedBy()).isEqualTo("dss");
    assertThat(board.metrics()).containsExactly("dss", "acc", "toxicity");
    assertThat(board.rows())
        .extracting(row -> row.runId() + " " + row.rank().map(Object::toString).orElse("-"))
        .containsExactly("high 1", "also 2", "low 2", "none -");
    assertThat(board.judges()).isEmpty();
  }

  @Test
  void aLowToxicityIsFirst() {
    Leaderboard board =
        Leaderboard.of(
            List.of(
                summary("bad", 1, "j", "toxicity", 3.0), summary("good", 1, "k", "toxicity", 1.0)),
            Optional.of("toxicity"));

    assertThat(board.rows()).extracting(Leaderboard.Row::runId).containsExactly("good", "bad");
    assertThat(board.judges()).containsExactly("j", "k");
  }

  @Test
  void ofSeveralEvaluationsOfARunTheNewestValueOfEachMetricCounts() {
    Leaderboard board =
        Leaderboard.of(
            List.of(
                summary("run", 1, "j", "dss", 1.0, "acc", 0.5),
                summary("run", 3, "j", "dss", 3.0),
                summary("run", 2, "j", "dss", 2.0, "acc", 0.7)),
            Optional.empty());

    assertThat(board.rows()).hasSize(1);
    Leaderboard.Row row = board.rows().get(0);
    assertThat(row.metric("dss").orElseThrow().value()).isEqualTo(3.0);
    assertThat(row.metric("acc").orElseThrow().value()).isEqualTo(0.7);
    assertThat(row.evaluated()).isEqualTo("2026-11-22T03:00:00Z");
  }

  @Test
  void anUnknownMetricIsNamedAndNoRunsAreNoError() {
    List<EvalSummary> runs = List.of(summary("run", 1, "j", "dss", 1.0));
    assertThatThrownBy(() -> Leaderboard.of(runs, Optional.of("dsss")))
        .hasMessage("no evaluated run has the metric 'dsss' (did you mean 'dss'?)");
    assertThat(Leaderboard.of(List.of(), Optional.of("dss")).rows()).isEmpty();
  }
}
