package dev.nexa.slurm.run.status;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.job.estimate.Usage;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PackedIndices;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One run in the table of {@code status}.
 *
 * @param user the login name of the run's owner; empty unless several users share the workspace
 * @param name the run's name; empty if its config gives none
 * @param elapsed the time while attempts held resources; the time that a requeued run waits does
 *     not count. For a run that was read from its manifest, the time from its start to its end
 * @param note a sentence that says why the run waits or what went wrong; may be empty
 */
public record RunRow(
    String runId,
    Optional<String> user,
    Optional<String> name,
    String stage,
    RunStatus status,
    String state,
    TaskCounts tasks,
    Standing standing,
    Optional<Long> jobId,
    Duration elapsed,
    Spent spent,
    String note) {
  /** Whether somebody has to wait for the run. */
  public enum Standing {
    /** The run waits, runs or has ended, as its state says. */
    AS_SHOWN,
    /** Its job was queued a moment ago: the scheduler has not looked at it yet. */
    NEW,
    /** Nothing runs, and no waiting task can start, because of an earlier run. */
    STUCK,
    /** The tasks have begun, but neither the queue nor accounting shows them. */
    LEFT
  }

  /**
   * The cost of the run.
   *
   * @param cost the cost of the ended attempts, and of the API tokens that tasks reported
   * @param soFar the cost with what the running attempts have held until now; empty if none runs
   * @param lacks a phrase that names what the cost does not include, or not yet; empty if it
   *     includes all
   */
  public record Spent(Money cost, Optional<Money> soFar, Optional<String> lacks) {
    /** Returns the cost with what the running attempts have held until now. */
    public Money now() {
      return soFar.orElse(cost);
    }
  }

  /** The note of a run that has {@link Standing#LEFT} the queue. */
  static final String LEFT = "it has left the queue; accounting shows in a moment how it ended";

  /**
   * Makes a run's row.
   *
   * @param user the login name of the run's owner, if it is to be shown
   * @param lacks what the cost does not include
   * @param queue the queue entries of the run
   */
  public static RunRow of(
      Optional<String> user,
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      Money cost,
      Optional<String> lacks,
      List<QueueEntry> queue,
      Instant now) {
    TaskCounts tasks = TaskCounts.of(outcome.tasks());
    return new RunRow(
        facts.id().value(),
        user,
        PlanFile.name(facts.labels().tags()),
        facts.labels().stage(),
        outcome.status(),
        outcome.state(),
        tasks,
        standing(tasks, queue),
        journal.last().flatMap(Submission::jobId),
        elapsed(outcome, queue, now),
        new Spent(cost, soFar(facts, cost, outcome, queue, now), lacks),
        note(facts.id().value(), journal, outcome, queue));
  }

  /**
   * Makes the row of another user's run from its manifest, because squeue shows a user only the
   * user's own jobs.
   */
  static RunRow of(String user, ManifestFile manifest) {
    return of(manifest, Optional.of(user), "as of the last pass of " + user);
  }

  /** Makes the row of a run that has ended from its manifest. */
  public static RunRow ended(ManifestFile manifest) {
    BigDecimal cached =
        manifest.metrics().optionalDecimal("answers_cached").orElse(BigDecimal.ZERO);
    String note = cached.signum() == 0 ? "" : cached + " answers of earlier runs";
    return of(
        manifest, Optional.empty(), manifest.packed().map(PackedIndices::sentence).orElse(note));
  }

  private static RunRow of(ManifestFile manifest, Optional<String> user, String note) {
    List<ManifestFile.Listed> submissions = manifest.submissions();
    return new RunRow(
        manifest.runId(),
        user,
        manifest.name(),
        manifest.stage(),
        manifest.status(),
        manifest.state(),
        TaskCounts.of(manifest),
        Standing.AS_SHOWN,
        submissions.isEmpty() ? Optional.empty() : submissions.get(submissions.size() - 1).jobId(),
        manifest
            .started()
            .map(from -> Duration.between(from, manifest.ended().orElseGet(Instant::now)))
            .orElse(Duration.ZERO),
        new Spent(manifest.cost().orElseThrow(), Optional.empty(), manifest.costLacks()),
        note);
  }

  /**
   * Returns the row in the words for people. The states of files are finer: {@code unconfirmed} is
   * a job that Slurm accepted a moment ago.
   */
  public RunRow forPeople() {
    if (hasLeft()) {
      return with("ending", standing, LEFT);
    }
    if (!state.equals(RunOutcome.UNCONFIRMED)) {
      return this;
    }
    boolean isNew = standing == Standing.NEW;
    return with(isNew ? "queued (new)" : "queued", standing, isNew ? "" : note);
  }

  /** Returns whether the run has left the queue, and accounting does not show yet how it ended. */
  boolean hasLeft() {
    return standing == Standing.LEFT;
  }

  /** Returns whether it is useless to wait for the run, because it can never start. */
  public boolean stuck() {
    return standing == Standing.STUCK;
  }

  /** Returns why no task has begun; empty if one has, or if no reason is known. */
  public Optional<String> waitsBecause() {
    boolean begun = tasks.pending() < tasks.all() || status.ended();
    return begun || note.isEmpty() || hasLeft() ? Optional.empty() : Optional.of(note);
  }

  /**
   * Returns the error for a run that can never start, because of an earlier run: it is useless to
   * wait for it.
   *
   * @param run the run's id
   * @param why the reason as a clause, which names the command that removes the run
   */
  public static NexaException neverStarts(String run, String why) {
    return ErrorCode.RUN_NEVER_STARTS.error(run + " " + why);
  }

  /**
   * Returns a copy that says that the run has left the queue, if it seems to wait.
   *
   * @param begun whether a task has claimed its number, which each task does first
   */
  RunRow leaving(boolean begun) {
    return begun && RunOutcome.waits(state) ? with(state, Standing.LEFT, LEFT) : this;
  }

  /** Returns a copy with another note. */
  public RunRow noted(String words) {
    return with(state, standing == Standing.NEW ? Standing.AS_SHOWN : standing, words);
  }

  private RunRow with(String words, Standing now, String reason) {
    return new RunRow(
        runId, user, name, stage, status, words, tasks, now, jobId, elapsed, spent, reason);
  }

  /**
   * Adds what the running attempts have held until now, at the run's rates. An attempt that
   * accounting does not show yet counts with the planned resources.
   */
  private static Optional<Money> soFar(
      RunFacts facts, Money cost, RunOutcome outcome, List<QueueEntry> queue, Instant now) {
    Map<Long, AccountingRecord> allocated = new HashMap<>();
    outcome.tasks().stream()
        .flatMap(task -> task.attempts().stream())
        .filter(row -> !row.ended() && !row.allocTres().isEmpty())
        .forEach(row -> allocated.put(row.rawJobId(), row));
    Usage held = Usage.NONE;
    boolean some = false;
    for (QueueEntry entry : queue) {
      if (runs(entry) && entry.start().isPresent()) {
        AccountingRecord row = allocated.get(entry.rawJobId());
        // After a resize, squeue shows the start of the job, and the row shows the start of its
        // newest part.
        Instant start = row == null ? entry.start().get() : row.start().orElse(entry.start().get());
        long seconds = Math.max(0, Duration.between(start, now).toSeconds());
        String tres = row == null ? facts.planned().of(entry.task()).tres() : row.allocTres();
        held = held.plus(RunOutcome.charged(tres, seconds, facts));
        some = true;
      }
    }
    return some
        ? Optional.of(cost.plus(facts.rates().total(facts.rates().price(held))))
        : Optional.empty();
  }

  private static boolean runs(QueueEntry entry) {
    return entry.active() && entry.state() != JobState.PENDING;
  }

  private static Standing standing(TaskCounts tasks, List<QueueEntry> queue) {
    if (tasks.running() == 0 && stuck(queue)) {
      return Standing.STUCK;
    }
    return firstWaiting(queue).filter(waiting -> waiting.reason().equals("None")).isPresent()
        ? Standing.NEW
        : Standing.AS_SHOWN;
  }

  private static Optional<QueueEntry> firstWaiting(List<QueueEntry> queue) {
    return queue.stream().filter(entry -> entry.state() == JobState.PENDING).findFirst();
  }

  /**
   * Returns whether tasks wait and none of them can ever start, because of an earlier run. squeue
   * shows ended tasks for a while (MinJobAge in slurm.conf); they do not count.
   */
  public static boolean stuck(List<QueueEntry> queue) {
    List<QueueEntry> active = queue.stream().filter(QueueEntry::active).toList();
    return !active.isEmpty() && active.stream().allMatch(QueueEntry::neverStarts);
  }

  /**
   * Returns how long at least one attempt held resources. The time between two attempts does not
   * count: the run waits in the queue again.
   */
  private static Duration elapsed(RunOutcome outcome, List<QueueEntry> queue, Instant now) {
    List<HeldTime> held = new ArrayList<>();
    // If the queue shows every task of a run, accounting is not always asked about the run.
    List<QueueEntry> active = queue.stream().filter(RunRow::runs).toList();
    active.forEach(entry -> entry.start().ifPresent(start -> held.add(new HeldTime(start, now))));
    List<AccountingRecord> rows =
        outcome.tasks().stream().flatMap(task -> task.attempts().stream()).toList();
    Optional<Instant> lastEnd =
        rows.stream().flatMap(row -> row.end().stream()).max(Comparator.naturalOrder());
    Instant open = active.isEmpty() ? lastEnd.orElse(now) : now;
    rows.forEach(
        row ->
            row.start().ifPresent(start -> held.add(new HeldTime(start, row.end().orElse(open)))));
    return HeldTime.total(held);
  }

  private static String note(
      String id, RunState journal, RunOutcome outcome, List<QueueEntry> queue) {
    Optional<QueueEntry> waiting = firstWaiting(queue);
    if (waiting.isPresent()) {
      return WaitReason.sentence(id, journal, waiting.get(), Map.of());
    }
    return switch (outcome.state()) {
      case RunOutcome.UNKNOWN ->
          outcome.disagreements().isEmpty()
              ? "sbatch's answer is not known; `nexa-slurm reconcile` finds out"
              : "it is not known how a task ended; `nexa-slurm why " + id + "` tells more";
      case RunOutcome.UNCONFIRMED -> "Slurm accepted the job; no pass has seen it in the queue yet";
      default ->
          journal.current().stream()
              .map(Submission::message)
              .filter(message -> !message.isEmpty())
              .findFirst()
              .orElse("");
    };
  }
}
