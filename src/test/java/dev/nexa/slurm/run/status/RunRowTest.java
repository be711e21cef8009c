package dev.nexa.slurm.run.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which queues say that a run can never start. */
class RunRowTest {
  private static QueueEntry entry(JobState state, String reason) {
    return new QueueEntry(7, 7, 0, state, reason, Optional.empty(), Optional.empty(), "key");
  }

  /** squeue lists ended tasks for MinJobAge, 300 s by default. */
  @Test
  void onlyTasksThatWaitCanNeverStart() {
    QueueEntry never = entry(JobState.PENDING, "DependencyNeverSatisfied");
    QueueEntry waits = entry(JobState.PENDING, "Priority");
    QueueEntry ended = entry(JobState.COMPLETED, "None");

    assertThat(RunRow.stuck(List.of(never))).isTrue();
    assertThat(RunRow.stuck(List.of(ended, never))).isTrue();
    assertThat(RunRow.stuck(List.of(ended))).isFalse();
    assertThat(RunRow.stuck(List.of(entry(JobState.FAILED, "NonZeroExitCode")))).isFalse();
    assertThat(RunRow.stuck(List.of(never, waits))).isFalse();
    assertThat(RunRow.stuck(List.of(never, entry(JobState.RUNNING, "None")))).isFalse();
    assertThat(RunRow.stuck(List.of())).isFalse();
  }
}
