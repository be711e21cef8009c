package dev.nexa.slurm.report;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.reconcile.RunFacts;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.reconcile.TaskOutcome;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.units.Money;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One run in the status table.
 *
 * @param elapsed from the first start to the last end, or to now
 * @param cost of the attempts that are closed
 * @param note why it waits, or what went wrong, in a sentence
 */
public record RunRow(
    String runId,
    String stage,
    String status,
    String state,
    int tasks,
    int done,
    int failed,
    int cancelled,
    int running,
    Optional<Long> jobId,
    Duration elapsed,
    Money cost,
    String note) {

  public static RunRow of(
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      Money cost,
      List<QueueEntry> queue,
      Instant now) {
    int done = 0;
    int failed = 0;
    int cancelled = 0;
    int running = 0;
    for (TaskOutcome task : outcome.tasks()) {
      boolean good = task.state() == JobState.COMPLETED;
      done += task.ended() && good ? 1 : 0;
      boolean stopped = task.state() == JobState.CANCELLED;
      cancelled += task.ended() && stopped ? 1 : 0;
      failed += task.ended() && !good && !stopped ? 1 : 0;
      running += !task.ended() && task.state() != JobState.PENDING ? 1 : 0;
    }
    return new RunRow(
        facts.id().value(),
        facts.stage(),
        outcome.status(),
        outcome.state(),
        facts.tasks(),
        done,
        failed,
        cancelled,
        running,
        journal.last().flatMap(Submission::jobId),
        elapsed(outcome, queue, now),
        cost,
        note(journal, outcome, queue));
  }

  private static Duration elapsed(RunOutcome outcome, List<QueueEntry> queue, Instant now) {
    List<AccountingRecord> rows =
        outcome.tasks().stream().flatMap(task -> task.attempts().stream()).toList();
    Optional<Instant> start =
        rows.stream().flatMap(row -> row.start().stream()).min(Instant::compareTo);
    boolean active =
        queue.stream().anyMatch(entry -> entry.active() && entry.state() != JobState.PENDING);
    Optional<Instant> end =
        rows.stream().flatMap(row -> row.end().stream()).max(Instant::compareTo);
    Instant until = active ? now : end.orElse(now);
    return start
        .map(from -> Duration.between(from, until))
        .filter(d -> !d.isNegative())
        .orElse(Duration.ZERO);
  }

  private static String note(RunState journal, RunOutcome outcome, List<QueueEntry> queue) {
    Optional<QueueEntry> pending =
        queue.stream().filter(entry -> entry.state() == JobState.PENDING).findFirst();
    if (pending.isPresent()) {
      return PendingReason.sentence(pending.get().reason());
    }
    return switch (outcome.state()) {
      case "unknown" -> "sbatch's answer is not known; `nexa-slurm reconcile` finds out";
      case "unconfirmed" -> "accepted; not yet seen in the queue for long enough";
      default -> message(journal);
    };
  }

  private static String message(RunState journal) {
    for (Submission submission : journal.current()) {
      if (!submission.message().isEmpty()) {
        return submission.message();
      }
    }
    return "";
  }

  public JsonObject toJson() {
    return new JsonObject()
        .with("run_id", runId)
        .with("stage", stage)
        .with("status", status)
        .with("state", state)
        .with("tasks", tasks)
        .with("tasks_done", done)
        .with("tasks_failed", failed)
        .with("tasks_cancelled", cancelled)
        .with("tasks_running", running)
        .withOptional("job_id", jobId)
        .with("elapsed_seconds", elapsed.toSeconds())
        .with("cost", cost.amount().toPlainString())
        .with("currency", cost.currency())
        .with("note", note);
  }
}
