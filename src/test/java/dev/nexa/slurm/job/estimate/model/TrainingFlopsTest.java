package dev.nexa.slurm.job.estimate.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.estimate.model.MemorySetup.Trains;
import org.junit.jupiter.api.Test;

class TrainingFlopsTest {
  private static final long N = 1_000_000;

  @Test
  void trainingIsThreePassesAndAFourthWhereActivationsAreComputedAgain() {
    assertThat(flops(Trains.ALL, false, 0, 0)).isEqualTo(6.0 * N);
    assertThat(flops(Trains.ALL, true, 0, 0)).isEqualTo(8.0 * N);
  }

  @Test
  void frozenWeightsHaveNoGradientsOfTheirOwn() {
    assertThat(new TrainingFlops(N, Trains.ADAPTER, 10, false, 0, 0).perToken())
        .isEqualTo(4.0 * N + 60);
  }

  @Test
  void aTeacherOnlyReads() {
    assertThat(flops(Trains.ALL, false, 5 * N, 0)).isEqualTo(16.0 * N);
  }

  @Test
  void writingIsOnePass() {
    assertThat(flops(Trains.NOTHING, true, 0, 0)).isEqualTo(2.0 * N);
  }

  @Test
  void attentionCountsWhereItIsATenthOfTheRest() {
    assertThat(flops(Trains.ALL, false, 0, 0.19 * N)).isEqualTo(6.0 * N);
    assertThat(flops(Trains.ALL, false, 0, 0.5 * N)).isEqualTo(7.5 * N);
  }

  private static double flops(Trains trains, boolean again, long teacher, double attention) {
    return new TrainingFlops(N, trains, 0, again, teacher, attention).perToken();
  }
}
