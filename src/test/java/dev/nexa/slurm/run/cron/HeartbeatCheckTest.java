package dev.nexa.slurm.run.cron;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.records.runs.Heartbeat;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeartbeatCheckTest {
  private static final Instant NOON = Instant.parse("2025-11-01T12:00:00Z");

  @ParameterizedTest(name = "{0} after a pass that was behind for {1}: late {2}")
  @CsvSource({
    "PT15M, PT0S, false",
    "PT15M1S, PT0S, true",
    "PT18M, PT6M, false",
    "PT18M1S, PT6M, true",
    "PT25M, P9D, false",
    "PT25M1S, P9D, true",
  })
  void threePeriodsMayPassAndTheWaitOfAnOutage(Duration age, Duration behind, boolean late) {
    HeartbeatCheck check =
        HeartbeatCheck.of(
            Optional.of(heartbeat(behind)), true, PassInterval.DEFAULT, NOON.plus(age));

    assertThat(check.late()).isEqualTo(late);
    assertThat(check.words().contains("passes are missing")).isEqualTo(late);
    assertThat(check.words().contains("is not known, because sacct failed"))
        .isEqualTo(!behind.isZero());
  }

  @Test
  void withoutAHeartbeatItMattersWhetherThereIsARun() {
    assertThat(HeartbeatCheck.of(Optional.empty(), true, PassInterval.DEFAULT, NOON).late())
        .isTrue();
    assertThat(HeartbeatCheck.of(Optional.empty(), false, PassInterval.DEFAULT, NOON).late())
        .isFalse();
  }

  private static Heartbeat heartbeat(Duration behind) {
    boolean isBehind = !behind.isZero();
    return new Heartbeat(
        NOON,
        Optional.of(NOON.minus(behind)),
        isBehind ? Optional.of(NOON.minus(behind)) : Optional.empty(),
        isBehind ? Optional.of("sacct failed") : Optional.empty(),
        3,
        0,
        0,
        Duration.ofMillis(412));
  }
}
