package dev.nexa.slurm.cluster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class JobStateTest {
  private static final Set<JobState> ENDS =
      Set.of(
          JobState.COMPLETED,
          JobState.CANCELLED,
          JobState.FAILED,
          JobState.TIMEOUT,
          JobState.NODE_FAIL,
          JobState.PREEMPTED,
          JobState.BOOT_FAIL,
          JobState.DEADLINE,
          JobState.OUT_OF_MEMORY,
          JobState.REVOKED,
          JobState.REFUSED,
          JobState.VANISHED,
          JobState.NOT_SUBMITTED);

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({
    "COMPLETED, COMPLETED",
    "CANCELLED by 1000, CANCELLED",
    "CANCELLED by 4294967294, CANCELLED",
    "CANCELLED+, CANCELLED",
    "OUT_OF_MEMORY, OUT_OF_MEMORY",
    "completed, COMPLETED",
    "HIBERNATING, UNRECOGNIZED",
    "COMPLETEDLY, UNRECOGNIZED",
    "'', UNRECOGNIZED",
  })
  void theFirstWordDecides(String text, JobState state) {
    assertThat(JobState.parse(text)).isEqualTo(state);
  }

  /** The job of a row that was requeued or resized goes on, and its cost is known all the same. */
  @ParameterizedTest
  @EnumSource
  void aRowMayBeClosedWhileItsTaskGoesOn(JobState state) {
    assertThat(state.endsTask()).isEqualTo(ENDS.contains(state));
    assertThat(state.endsAttempt())
        .isEqualTo(
            ENDS.contains(state) || state == JobState.REQUEUED || state == JobState.RESIZING);
  }
}
