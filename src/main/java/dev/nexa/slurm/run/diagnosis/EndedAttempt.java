package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.records.documents.CostFile;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The last attempt of a task that did not end well.
 *
 * @param task the task's number in the run
 * @param restart how often the task had been requeued before
 * @param jobId the job id of the task itself; empty if the task never had a job
 * @param printed the state as accounting prints it, such as {@code CANCELLED by 1000}
 * @param exitCode {@code exit:signal}, as printed; empty if the task never began
 * @param nodes the node list, as printed; may be empty
 * @param end when it ended; empty if it is not known
 */
record EndedAttempt(
    int task,
    int restart,
    Optional<Long> jobId,
    String printed,
    String exitCode,
    String nodes,
    Duration elapsed,
    Optional<Instant> end) {

  static EndedAttempt of(int task, int restart, AccountingRecord row) {
    return new EndedAttempt(
        task,
        restart,
        Optional.of(row.rawJobId()),
        row.rawState(),
        row.ran() ? row.exitCode() : "",
        row.nodes(),
        Duration.ofSeconds(row.elapsedSeconds()),
        row.end());
  }

  static EndedAttempt of(int restart, CostFile.Attempt attempt) {
    Duration elapsed = Duration.ofSeconds(attempt.elapsedSeconds());
    return new EndedAttempt(
        (int) attempt.task(),
        restart,
        Optional.of(attempt.jobId()),
        attempt.state(),
        attempt.exitCode(),
        attempt.held().nodes(),
        elapsed,
        attempt.start().map(start -> start.plus(elapsed)));
  }

  /** Makes the attempt of a task that ended in this state and never began. */
  static EndedAttempt neverBegan(int task, JobState state) {
    return new EndedAttempt(
        task, 0, Optional.empty(), state.name(), "", "", Duration.ZERO, Optional.empty());
  }

  JobState state() {
    return JobState.parse(printed);
  }
}
