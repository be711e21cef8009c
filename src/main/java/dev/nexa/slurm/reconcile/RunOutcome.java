package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.estimate.Usage;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.journal.Submission.Phase;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.Tres;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a run came to, from its journal, the queue and accounting. Pure.
 *
 * @param status running, completed or failed
 * @param state the finer word, lower case
 * @param counts tasks by state
 * @param tasks every task
 * @param attempts every closed row that held an allocation, duplicates' among them
 * @param used what those attempts held
 * @param wasted the part of it that did not end COMPLETED
 * @param disagreements what the jobs' own results tell of and accounting does not
 */
public record RunOutcome(
    String status,
    String state,
    Map<JobState, Integer> counts,
    List<TaskOutcome> tasks,
    List<AccountingRecord> attempts,
    Usage used,
    Usage wasted,
    List<String> disagreements) {

  /** A preempted or failed node's task may be queued again; its new row shows within this. */
  private static final Duration REQUEUE_GRACE = Duration.ofMinutes(2);

  /**
   * Sums up a run.
   *
   * @param rows accounting's rows of the run's keys
   * @param queue squeue's entries of the run's keys, taken before the rows
   * @param holders of a submission with duplicates: by task, the job that claimed its work
   */
  public static RunOutcome of(
      RunFacts facts,
      RunState journal,
      List<AccountingRecord> rows,
      List<QueueEntry> queue,
      Map<Integer, Long> holders,
      Instant now) {
    List<TaskOutcome> tasks = tasks(facts, journal, rows, queue, holders, now);
    List<AccountingRecord> attempts = new ArrayList<>();
    for (AccountingRecord row : rows) {
      if (row.ended() && row.ran()) {
        attempts.add(row);
      }
    }
    if (attempts.size() > 1) {
      attempts.sort(
          Comparator.comparing(AccountingRecord::submit)
              .thenComparing(row -> row.tasks().indices().get(0))
              .thenComparing(AccountingRecord::rawJobId));
    }
    String status = status(tasks, journal);
    EnumSet<JobState> failures = EnumSet.complementOf(EnumSet.of(JobState.COMPLETED));
    return new RunOutcome(
        status,
        state(status, tasks, journal),
        counts(tasks),
        tasks,
        attempts,
        usage(attempts, EnumSet.allOf(JobState.class), facts),
        usage(attempts, failures, facts),
        List.of());
  }

  /** What the attempts that ended so held. */
  Usage usage(Set<JobState> states, RunFacts facts) {
    return usage(attempts, states, facts);
  }

  /** Thousands of attempts hold the same: their seconds are added up before they are priced. */
  private static Usage usage(
      List<AccountingRecord> attempts, Set<JobState> states, RunFacts facts) {
    Map<String, Long> seconds = new HashMap<>();
    for (AccountingRecord row : attempts) {
      if (states.contains(row.state())) {
        seconds.merge(row.allocTres(), row.elapsedSeconds(), Math::addExact);
      }
    }
    Usage usage = Usage.NONE;
    for (Map.Entry<String, Long> held : seconds.entrySet()) {
      usage = usage.plus(charged(held.getKey(), held.getValue(), facts));
    }
    return usage;
  }

  /** The same, with what is charged where parts are not, or not whole ones. */
  static Usage charged(String allocTres, long seconds, RunFacts facts) {
    Tres tres = Tres.parse(allocTres);
    Usage usage = usage(tres, seconds, facts);
    Map<String, Long> shards =
        usage.gpuSeconds().isEmpty()
            ? Tres.shards(allocTres, facts.gpuType().orElse("gpu"))
            : Map.of();
    if (facts.rates().terms().partsAreCharged() && shards.isEmpty()) {
      return usage;
    }
    return usage.holding(
        shards, Tres.nodes(allocTres), facts.rates().billingUnits(allocTres), seconds);
  }

  /** What an allocation held for so long. */
  static Usage usage(Tres tres, long seconds, RunFacts facts) {
    Map<String, Long> gpus = tres.gpusBy(facts.gpuType().orElse("gpu"), facts.plannedGpus());
    return Usage.of(gpus, tres.cpus(), tres.memoryBytes(), seconds);
  }

  /** The same, with what is missing; unsettled where that may still come. */
  RunOutcome disagreeing(List<String> missing, boolean unsettled) {
    return new RunOutcome(
        unsettled ? "running" : status,
        unsettled ? "running" : state,
        counts,
        tasks,
        attempts,
        used,
        wasted,
        missing);
  }

  /** The same, as if only what every version of Slurm tells had been asked for. */
  RunOutcome plain() {
    List<AccountingRecord> rows = new ArrayList<>();
    for (AccountingRecord row : attempts) {
      rows.add(row.plain());
    }
    return new RunOutcome(status, state, counts, tasks, rows, used, wasted, disagreements);
  }

  /** Whether nothing more will happen to the run. */
  public boolean ended() {
    return status.equals("completed") || status.equals("failed");
  }

  private static List<TaskOutcome> tasks(
      RunFacts facts,
      RunState journal,
      List<AccountingRecord> rows,
      List<QueueEntry> queue,
      Map<Integer, Long> holders,
      Instant now) {
    boolean justSubmitted = rows.isEmpty() && queue.isEmpty() && journal.submissions().size() == 1;
    if (justSubmitted && !journal.submissions().get(0).failed()) {
      return allPending(facts.tasks());
    }
    Map<Integer, Submission> newest = journal.newest();
    Map<Integer, List<AccountingRecord>> byTask = new HashMap<>();
    rows.stream()
        .sorted(
            Comparator.comparing(AccountingRecord::submit).thenComparing(AccountingRecord::ended))
        .forEach(
            row ->
                row.tasks()
                    .indices()
                    .forEach(
                        task -> {
                          if (counts(row, task, newest.get(task), holders)) {
                            byTask.computeIfAbsent(task, t -> new ArrayList<>()).add(row);
                          }
                        }));
    Map<Integer, QueueEntry> queued = new HashMap<>();
    for (QueueEntry entry : queue) {
      Submission counting = newest.get(entry.task());
      boolean counts = counting != null && entry.name().equals(counting.key());
      // Of a chain the link that runs is told, not the last one, which waits.
      if (entry.active()
          && (entry.state() != JobState.PENDING || (counts && !queued.containsKey(entry.task())))) {
        queued.put(entry.task(), entry);
      }
    }
    Map<String, Long> endedAsOne = new HashMap<>();
    for (AccountingRecord row : rows) {
      if (row.endedAsOne()) {
        endedAsOne.put(row.name(), row.arrayJobId());
      }
    }
    JobState unmade = unmade(journal);
    List<TaskOutcome> tasks = new ArrayList<>(facts.tasks());
    for (int task = 0; task < facts.tasks(); task++) {
      List<AccountingRecord> attempts = byTask.getOrDefault(task, List.of());
      QueueEntry entry = queued.get(task);
      Submission submission = newest.get(task);
      if (submission == null) {
        tasks.add(new TaskOutcome(task, unmade, unmade.endsTask(), false, attempts));
      } else if (submission.failed()) {
        tasks.add(new TaskOutcome(task, failed(submission), true, false, attempts));
      } else if (entry != null) {
        tasks.add(queued(task, entry, attempts));
      } else {
        boolean asOne =
            attempts.isEmpty()
                && submission.jobId().isPresent()
                && submission.jobId().get().equals(endedAsOne.get(submission.key()));
        tasks.add(asOne ? TaskOutcome.cancelledUnseen(task) : gone(task, attempts, facts, now));
      }
    }
    return withoutRow(tasks, newest, journal, now);
  }

  /**
   * Whether a row tells where the task stands: it is of the submission that counts, and not of a
   * duplicate or of a job that turned up after its submission was closed, which ended at the claim.
   */
  private static boolean counts(
      AccountingRecord row, int task, @Nullable Submission submission, Map<Integer, Long> holders) {
    if (submission == null || !row.name().equals(submission.key())) {
      return false;
    }
    Long holder = holders.get(task);
    if (holder != null) {
      return holder == row.rawJobId();
    }
    Optional<Long> job = submission.jobId();
    return job.isPresent() && job.get() == row.arrayJobId();
  }

  /** What became of a task that no submission holds. */
  private static JobState unmade(RunState journal) {
    if (journal.cancelRequested()) {
      return JobState.CANCELLED;
    }
    boolean stopped = journal.submissions().isEmpty();
    for (Submission submission : journal.submissions()) {
      stopped |= submission.phase() == Phase.REFUSED;
    }
    return stopped ? JobState.NOT_SUBMITTED : JobState.PENDING;
  }

  private static JobState failed(Submission submission) {
    if (submission.phase() == Phase.REFUSED) {
      return JobState.REFUSED;
    }
    return submission.jobId().isPresent() ? JobState.VANISHED : JobState.NOT_SUBMITTED;
  }

  /** As it is right after a submit. */
  private static List<TaskOutcome> allPending(int count) {
    List<TaskOutcome> tasks = new ArrayList<>(count);
    for (int task = 0; task < count; task++) {
      tasks.add(new TaskOutcome(task, JobState.PENDING, false, false, List.of()));
    }
    return tasks;
  }

  /**
   * A task that was cancelled while it waited in an array leaves no row (seen with 22.05): once
   * every other task is over, those of its own array for a while, and the queue is empty, that is
   * what became of it.
   */
  private static List<TaskOutcome> withoutRow(
      List<TaskOutcome> tasks, Map<Integer, Submission> newest, RunState journal, Instant now) {
    boolean open = false;
    Map<String, Instant> lastEnds = new HashMap<>();
    for (TaskOutcome task : tasks) {
      if (!task.ended() && (task.queued() || !task.attempts().isEmpty())) {
        return tasks;
      }
      open |= !task.ended();
      for (AccountingRecord row : task.attempts()) {
        Instant end = row.end().orElse(Instant.MIN);
        lastEnds.merge(row.name(), end, (one, two) -> one.isAfter(two) ? one : two);
      }
    }
    if (!open) {
      return tasks;
    }
    for (Submission submission : journal.current()) {
      if (submission.phase() != Phase.CONFIRMED && !submission.failed()) {
        return tasks;
      }
    }
    List<TaskOutcome> settled = new ArrayList<>();
    for (TaskOutcome task : tasks) {
      Submission own = newest.get(task.task());
      Instant last = own == null ? null : lastEnds.get(own.key());
      boolean unseen = !task.ended() && last != null && last.plus(REQUEUE_GRACE).isBefore(now);
      settled.add(unseen ? TaskOutcome.cancelledUnseen(task.task()) : task);
    }
    return settled;
  }

  private static TaskOutcome queued(int task, QueueEntry entry, List<AccountingRecord> attempts) {
    JobState state = entry.state() == JobState.PENDING ? JobState.PENDING : JobState.RUNNING;
    return new TaskOutcome(task, state, false, true, attempts);
  }

  /** The queue does not hold the task: its newest row tells, once it is closed. */
  private static TaskOutcome gone(
      int task, List<AccountingRecord> attempts, RunFacts facts, Instant now) {
    if (attempts.isEmpty()) {
      return new TaskOutcome(task, JobState.PENDING, false, false, attempts);
    }
    AccountingRecord newest = attempts.get(attempts.size() - 1);
    boolean over = newest.ended() && newest.state().endsTask();
    boolean mayRunAgain =
        facts.requeues() > 0
            && (newest.state() == JobState.NODE_FAIL
                || newest.state() == JobState.PREEMPTED
                || newest.state() == JobState.BOOT_FAIL);
    boolean settled =
        !mayRunAgain
            || newest.end().map(end -> end.plus(REQUEUE_GRACE).isBefore(now)).orElse(false);
    return new TaskOutcome(task, newest.state(), over && settled, false, attempts);
  }

  private static String status(List<TaskOutcome> tasks, RunState journal) {
    // Rows that ended confirm a submission, also before reconcile has written that down.
    for (Submission submission : journal.current()) {
      if (submission.unresolved()) {
        return "running";
      }
    }
    boolean completed = true;
    for (TaskOutcome task : tasks) {
      if (!task.ended()) {
        return "running";
      }
      completed &= task.completed();
    }
    return completed ? "completed" : "failed";
  }

  private static String state(String status, List<TaskOutcome> tasks, RunState journal) {
    if (!status.equals("running")) {
      return worst(tasks);
    }
    boolean unconfirmed = false;
    for (Submission submission : journal.current()) {
      if (submission.unresolved()) {
        return "unknown";
      }
      unconfirmed |= submission.phase() == Phase.SUBMITTED;
    }
    return begun(tasks) ? "running" : unconfirmed ? "unconfirmed" : "pending";
  }

  private static boolean begun(List<TaskOutcome> tasks) {
    for (TaskOutcome task : tasks) {
      if (task.ended() || task.state() != JobState.PENDING) {
        return true;
      }
    }
    return false;
  }

  /** The most frequent state that is not COMPLETED; completed where there is none. */
  private static String worst(List<TaskOutcome> tasks) {
    JobState worst = JobState.COMPLETED;
    int most = 0;
    for (Map.Entry<JobState, Integer> entry : counts(tasks).entrySet()) {
      if (entry.getKey() != JobState.COMPLETED && entry.getValue() > most) {
        worst = entry.getKey();
        most = entry.getValue();
      }
    }
    return worst.name().toLowerCase(Locale.ROOT);
  }

  private static Map<JobState, Integer> counts(List<TaskOutcome> tasks) {
    Map<JobState, Integer> counts = new EnumMap<>(JobState.class);
    for (TaskOutcome task : tasks) {
      counts.put(task.state(), counts.getOrDefault(task.state(), 0) + 1);
    }
    return counts;
  }
}
