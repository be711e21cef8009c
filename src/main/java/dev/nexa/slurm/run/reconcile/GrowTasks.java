package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Queues tasks again, larger, whose job script could not do it: the kernel killed the script too,
 * or the program did not end in time.
 *
 * <p>Slurm counts the attempts: the last allowed attempt has forbidden another requeue.
 */
record GrowTasks(Scheduler scheduler) {
  private static final long MIB = 1 << 20;

  /** Slurm forgets an ended job after MinJobAge, 300 s by default. */
  private static final Duration REMEMBERED = Duration.ofMinutes(30);

  /** Returns whether a task was queued again. */
  boolean grow(
      RunFolder run,
      RunFacts facts,
      RunState state,
      RunOutcome outcome,
      Instant now,
      List<String> problems) {
    boolean grew = false;
    for (TaskOutcome task : outcome.tasks()) {
      Submission submission = state.newest().get(task.task());
      int attempts = task.attempts().size();
      if (!task.ended() || submission == null || attempts == 0) {
        continue;
      }
      AccountingRecord row = task.attempts().get(attempts - 1);
      Optional<String> size = size(row, facts);
      Instant end = row.end().orElse(Instant.MIN);
      if (size.isEmpty()
          || attempts > facts.work().requeues()
          || end.plus(REMEMBERED).isBefore(now)) {
        continue;
      }
      String what = "%s: task %d of %s".formatted(row.state(), task.task(), run.id());
      try {
        scheduler.requeueLarger(
            submission.jobId().orElseThrow(), submission.index(task.task()), size.get());
        problems.add(what + " is queued again with " + size.get());
        grew = true;
      } catch (SchedulerUnavailable refused) {
        problems.add(
            "%s is not queued again: %s; `nexa-slurm rerun --failed %s` runs it again as it was"
                .formatted(what, refused.getMessage(), run.id()));
      }
    }
    return grew;
  }

  /**
   * Returns the size of the next attempt; empty if this end makes no size grow, or no larger size
   * is left.
   */
  private static Optional<String> size(AccountingRecord row, RunFacts facts) {
    Tres held = Tres.parse(row.allocTres());
    for (AttemptSize size : facts.work().grown()) {
      if (row.state() == JobState.OUT_OF_MEMORY && size.memoryBytes() > held.memoryBytes()) {
        long nodes = Tres.nodes(row.allocTres()).orElse(1);
        return Optional.of("MinMemoryNode=" + size.memoryBytes() / nodes / MIB);
      }
      if (row.state() == JobState.TIMEOUT && size.timeLimitSeconds() > row.elapsedSeconds()) {
        boolean grows = size.timeLimitSeconds() > facts.work().timeLimit().toSeconds();
        return grows ? Optional.of("TimeLimit=" + size.timeLimitSeconds() / 60) : Optional.empty();
      }
    }
    return Optional.empty();
  }
}
