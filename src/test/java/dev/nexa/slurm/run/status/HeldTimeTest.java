package dev.nexa.slurm.run.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long a run held resources. */
class HeldTimeTest {
  @Test
  void theTimeInTheQueueBetweenTwoAttemptsDoesNotCount() {
    assertThat(HeldTime.total(List.of(held(300, 400), held(0, 60)))).isEqualTo(seconds(160));
  }

  @Test
  void tasksThatRunBesideEachOtherCountOnce() {
    assertThat(HeldTime.total(List.of(held(0, 100), held(10, 50), held(80, 120), held(80, 120))))
        .isEqualTo(seconds(120));
  }

  @Test
  void nothingHeldIsZero() {
    assertThat(HeldTime.total(List.of())).isZero();
    assertThat(HeldTime.total(List.of(held(9, 9), held(9, 5)))).isZero();
  }

  private static HeldTime held(long from, long until) {
    return new HeldTime(Instant.ofEpochSecond(from), Instant.ofEpochSecond(until));
  }

  private static Duration seconds(long count) {
    return Duration.ofSeconds(count);
  }
}
