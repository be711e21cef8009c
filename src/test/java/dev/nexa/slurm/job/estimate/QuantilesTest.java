package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the next value lies, of series that are easy to see through and of those that are not. */
class QuantilesTest {
  /** Seeds that nothing was chosen by; each makes 600 runs of eight families. */
  @ParameterizedTest
  @ValueSource(longs = {8001, 8002, 8003, 8004, 8005, 8006, 8007, 8008, 8009, 8010})
  void theP90CoversNineOfTenOfWhatComesNext(long seed) {
    Map<String, List<Double>> past = new HashMap<>();
    int judged = 0;
    int covered = 0;
    for (SimulatedRuns.Run run : new SimulatedRuns(seed, 8).runs(75)) {
      double value =
          (double) run.seconds()
              * Math.max(1, run.gpus())
              / run.tasks()
              / Math.max(1, run.bytes() / 1e9);
      List<Double> before = past.computeIfAbsent(run.family().model(), model -> new ArrayList<>());
      if (before.size() >= Quantiles.FEWEST) {
        judged++;
        covered += value <= of(before).p90() ? 1 : 0;
      }
      before.add(value);
    }
    assertThat(judged).isEqualTo(8 * 70);
    assertThat((double) covered / judged).isBetween(0.85, 0.95);
  }

  @Test
  void ofEqualValuesBothAreThatValue() {
    List<Double> values = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      values.add(7.0);
    }

    assertThat(of(values).p50()).isEqualTo(7);
    assertThat(of(values).p90()).isEqualTo(7, Offset.offset(0.2));
  }

  @Test
  void ofFewTheP90IsAboveTheLargest() {
    assertThat(of(List.of(1.0, 2.0, 3.0, 4.0, 5.0)).p50()).isEqualTo(3);
    assertThat(of(List.of(1.0, 2.0, 3.0, 4.0, 5.0)).p90()).isGreaterThan(5);
  }

  @Test
  void aDriftIsFollowed() {
    List<Double> values = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      values.add(100 * Math.exp(0.02 * i));
    }
    double next = 100 * Math.exp(0.02 * 200);

    assertThat(of(values).p90()).isBetween(0.9 * next, 1.3 * next);
    // The newest 21 alone: ten steps behind.
    assertThat(of(values).p50()).isEqualTo(next * Math.exp(-0.02 * 11), Offset.offset(1.0));
  }

  private static Quantiles of(List<Double> values) {
    return new Quantiles(values.stream().mapToDouble(value -> value).toArray());
  }
}
