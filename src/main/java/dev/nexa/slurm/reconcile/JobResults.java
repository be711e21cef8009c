package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunFolder.Claim;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.journal.Submission.Phase;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.AccountingRecord.Witness;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.units.IndexRange;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a run's jobs tell of themselves on a cluster that keeps no accounting
 * (AccountingStorageType=accounting_storage/none): rows like accounting's, from the submissions'
 * {@code results/} and {@code claims/}. What they held is what was planned.
 */
final class JobResults {
  private final RunFolder run;
  private final RunFacts facts;
  private final List<QueueEntry> queue;

  JobResults(RunFolder run, RunFacts facts, List<QueueEntry> queue) {
    this.run = run;
    this.facts = facts;
    this.queue = queue;
  }

  /**
   * The rows of the submissions' tasks that squeue does not hold, and of earlier attempts of those
   * that it does.
   *
   * @param asked when squeue was asked
   */
  List<AccountingRecord> rows(List<Submission> submissions, Instant asked) {
    List<AccountingRecord> rows = new ArrayList<>();
    for (Submission submission : submissions) {
      Set<Integer> told = queued(submission.key());
      for (Path file : run.results(submission.key())) {
        JsonObject result = Json.parseObject(DurableFiles.read(file));
        told.add((int) result.number("task"));
        rows.add(ended(submission, result));
      }
      if (submission.jobId().isPresent()) { // a claim names the task's own id, not the array's
        for (Claim claim : run.claims(submission.key())) {
          if (told.add(claim.task())) {
            rows.add(killed(submission, claim, asked));
          }
        }
      }
      if (submission.phase() == Phase.CONFIRMED) {
        List<Integer> rest = new ArrayList<>(submission.tasks().indices());
        rest.removeAll(told);
        rest.forEach(task -> rows.add(neverBegan(submission, task)));
      }
    }
    return rows;
  }

  private Set<Integer> queued(String key) {
    Set<Integer> tasks = new HashSet<>();
    for (QueueEntry entry : queue) {
      if (entry.active() && entry.name().equals(key)) {
        tasks.add(entry.task());
      }
    }
    return tasks;
  }

  /** It left its result. */
  private AccountingRecord ended(Submission submission, JsonObject result) {
    Instant start = Instant.ofEpochSecond(result.number("started"));
    Instant end = Instant.ofEpochSecond(result.number("ended"));
    return row(
        submission,
        (int) result.number("task"),
        result.number("array_job_id"),
        result.number("job_id"),
        state(result, Duration.between(start, end)),
        result.number("exit_code") + ":0",
        Optional.of(start),
        Optional.of(end),
        result.text("node"));
  }

  /** The job knows how it ended and that it was told to; who told it, only the clock hints at. */
  private JobState state(JsonObject result, Duration elapsed) {
    if (result.number("exit_code") == 0) {
      return JobState.COMPLETED;
    }
    if (result.text("signal").isEmpty()) {
      return JobState.FAILED;
    }
    return elapsed.compareTo(facts.timeLimit()) >= 0 ? JobState.TIMEOUT : JobState.CANCELLED;
  }

  /**
   * It began and left no result: killed outright, or with its node. When, nobody knows: it is given
   * all of its time limit, and is over once that has passed.
   */
  private AccountingRecord killed(Submission submission, Claim claim, Instant asked) {
    Instant end = claim.at().plus(facts.timeLimit());
    boolean over = !end.isAfter(asked);
    return row(
        submission,
        claim.task(),
        submission.jobId().orElseThrow(),
        claim.jobId(),
        over ? JobState.FAILED : JobState.RUNNING,
        "",
        Optional.of(claim.at()),
        over ? Optional.of(end) : Optional.empty(),
        "");
  }

  /** The job is known, squeue does not hold the task, and it never claimed its work. */
  private AccountingRecord neverBegan(Submission submission, int task) {
    long job = submission.jobId().orElseThrow();
    Optional<Instant> end = submission.answered();
    return row(submission, task, job, job, JobState.CANCELLED, "", Optional.empty(), end, "");
  }

  private AccountingRecord row(
      Submission submission,
      int task,
      long arrayJobId,
      long jobId,
      JobState state,
      String exitCode,
      Optional<Instant> start,
      Optional<Instant> end,
      String node) {
    boolean ran = start.isPresent();
    return new AccountingRecord(
        facts.cluster(),
        arrayJobId,
        jobId,
        IndexRange.parse(String.valueOf(task)),
        "",
        "",
        "",
        state,
        state.name(),
        exitCode,
        start.orElse(submission.intended()),
        start,
        end,
        ran && end.isPresent() ? Duration.between(start.get(), end.get()).toSeconds() : 0,
        node,
        node.isEmpty() ? 0 : 1,
        ran ? facts.plannedTres() : "",
        facts.plannedTres(),
        "",
        submission.key(),
        Witness.JOB);
  }
}
