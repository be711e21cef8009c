package dev.nexa.slurm.job.estimate.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.nexa.slurm.job.estimate.model.Mfu.PastRun;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MfuTest {
  private static final double PEAK = 1e15;

  @Test
  void fewRunsSayLessThanThePublishedOnes() {
    assertThat(Mfu.from(runs(0.4, 0.4, 0.4, 0.4))).isEqualTo(Mfu.PUBLISHED);
  }

  @Test
  void ownRunsGiveTheirMedianAndWhatMostLieWithin() {
    Mfu mfu = Mfu.from(runs(0.42, 0.30, 0.40, 0.41, 0.39));

    assertThat(mfu.calibrated()).isTrue();
    assertThat(mfu.runs()).isEqualTo(5);
    assertThat(mfu.middle()).isCloseTo(0.40, within(1e-9));
    assertThat(mfu.low()).isCloseTo(0.318, within(1e-9));
    assertThat(mfu.high()).isCloseTo(0.418, within(1e-9));
  }

  @Test
  void aRunThatHeldNoGpusTellsNothing() {
    List<PastRun> runs = new ArrayList<>(runs(0.4, 0.4, 0.4, 0.4));
    runs.add(new PastRun(1e18, 0, PEAK));

    assertThat(Mfu.from(runs)).isEqualTo(Mfu.PUBLISHED);
  }

  @Test
  void aRunThatSaysItDidMoreThanTheGpuCanTellsNothing() {
    assertThat(Mfu.from(runs(0.4, 0.4, 0.4, 0.4, 35))).isEqualTo(Mfu.PUBLISHED);
  }

  private static List<PastRun> runs(double... shares) {
    List<PastRun> runs = new ArrayList<>();
    for (double share : shares) {
      runs.add(new PastRun(share * PEAK * 3600, 3600, PEAK));
    }
    return runs;
  }
}
