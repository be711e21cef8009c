package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.estimate.Usage;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Submission.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
 * The state of a run, derived from its journal, the queue and accounting. Immutable; reads no file.
 *
 * @param status the run's status
 * @param state the run's state in detail, in lower case
 * @param counts the number of tasks in each state
 * @param tasks every task, in order
 * @param attempts every ended row that held an allocation, also of duplicate jobs; sorted by submit
 *     time, task and job id
 * @param used the resources that the attempts held
 * @param wasted the part of {@code used} of attempts without a result ({@link #withResult})
 * @param disagreements differences between the jobs' own results and accounting
 */
public record RunOutcome(
    RunStatus status,
    String state,
    Map<JobState, Integer> counts,
    List<TaskOutcome> tasks,
    List<AccountingRecord> attempts,
    Usage used,
    Usage wasted,
    List<String> disagreements) {

  /** The state of a run if no source shows whether it has a job, or how a job ended. */
  public static final String UNKNOWN = "unknown";

  /** The state of a run whose job Slurm accepted a moment ago, and which no pass has seen yet. */
  public static final String UNCONFIRMED = "unconfirmed";

  /** The state of a run that waits. */
  public static final String PENDING = "pending";

  /** The state of a run after a task has begun. */
  public static final String RUNNING = "running";

  private static final Set<String> WAITING = Set.of(UNCONFIRMED, PENDING);

  /**
   * Slurm may requeue a preempted task or a task of a failed node. Its new row appears within this
   * time.
   */
  private static final Duration REQUEUE_GRACE = Duration.ofMinutes(2);

  /**
   * Returns the end states of attempts that did their work, so that their money is not wasted. A
   * server serves until somebody stops it or its time is over.
   */
  static EnumSet<JobState> withResult(String stage) {
    return stage.equals("serve")
        ? EnumSet.of(JobState.COMPLETED, JobState.CANCELLED, JobState.TIMEOUT)
        : EnumSet.of(JobState.COMPLETED);
  }

  /**
   * Derives the state of a run.
   *
   * @param rows accounting's rows of the run's submissions
   * @param queue squeue's entries of the run's submissions, taken before the rows
   * @param holders for a submission with duplicate jobs: for each task, the job that claimed it
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
      attempts.sort(RunOutcome::byTime);
    }
    RunStatus status = status(tasks, journal);
    EnumSet<JobState> failures = EnumSet.complementOf(withResult(facts.labels().stage()));
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

  // Comparator.comparing makes its class at run time, which takes status 10 ms. These take none.

  /** Orders rows by submit time, task and job id. */
  private static int byTime(AccountingRecord one, AccountingRecord two) {
    int submit = one.submit().compareTo(two.submit());
    int task = Integer.compare(one.tasks().indices().get(0), two.tasks().indices().get(0));
    int job = Long.compare(one.rawJobId(), two.rawJobId());
    return submit != 0 ? submit : task != 0 ? task : job;
  }

  /**
   * Orders rows by submit time. Of two attempts with the same time, the running attempt comes
   * first.
   */
  private static int openFirst(AccountingRecord one, AccountingRecord two) {
    int submit = one.submit().compareTo(two.submit());
    return submit != 0 ? submit : Boolean.compare(one.ended(), two.ended());
  }

  /**
   * Returns the final state of an attempt; for a part of a resized job, the next part's final
   * state.
   */
  JobState cameTo(AccountingRecord row) {
    return cameTo(row, attempts);
  }

  private static JobState cameTo(AccountingRecord row, List<AccountingRecord> attempts) {
    AccountingRecord last = row;
    // The attempts are sorted by submit time.
    for (int i = 0; i < attempts.size() && last.state() == JobState.RESIZING; i++) {
      AccountingRecord next = attempts.get(i);
      boolean follows =
          next.rawJobId() == last.rawJobId()
              && next.name().equals(last.name())
              && next.submit().isAfter(last.submit());
      last = follows ? next : last;
    }
    return last.state();
  }

  /** Returns the resources that the attempts with one of these end states held. */
  Usage usage(Set<JobState> states, RunFacts facts) {
    return usage(attempts, states, facts);
  }

  /**
   * Adds up the seconds of equal allocations first, because thousands of attempts hold the same.
   */
  private static Usage usage(
      List<AccountingRecord> attempts, Set<JobState> states, RunFacts facts) {
    Map<String, Long> seconds = new HashMap<>();
    for (AccountingRecord row : attempts) {
      if (states.contains(cameTo(row, attempts))) {
        seconds.merge(row.allocTres(), row.elapsedSeconds(), Math::addExact);
      }
    }
    Usage usage = Usage.NONE;
    for (Map.Entry<String, Long> held : seconds.entrySet()) {
      usage = usage.plus(charged(held.getKey(), held.getValue(), facts));
    }
    return usage;
  }

  /**
   * Returns an allocation's resources, and the units for price books that charge by node, shard or
   * billing unit.
   */
  public static Usage charged(String allocTres, long seconds, RunFacts facts) {
    Tres tres = Tres.parse(allocTres);
    Usage usage = usage(tres, seconds, facts);
    Map<String, Long> shards =
        usage.gpuSeconds().isEmpty()
            ? Tres.shards(allocTres, facts.planned().gpuType().orElse("gpu"))
            : Map.of();
    if (facts.rates().terms().partsAreCharged() && shards.isEmpty()) {
      return usage;
    }
    return usage.holding(
        shards, Tres.nodes(allocTres), facts.rates().billingUnits(allocTres), seconds);
  }

  /** Returns the GPUs, CPUs and memory that an allocation held for these seconds. */
  static Usage usage(Tres tres, long seconds, RunFacts facts) {
    Map<String, Long> gpus =
        tres.gpusBy(facts.planned().gpuType().orElse("gpu"), facts.planned().gpus());
    return Usage.of(gpus, tres.cpus(), tres.memoryBytes(), seconds);
  }

  /**
   * Returns a copy with disagreements.
   *
   * @param unsettled whether the missing rows may still come; the run then counts as running
   */
  public RunOutcome disagreeing(List<String> missing, boolean unsettled) {
    return new RunOutcome(
        unsettled ? RunStatus.RUNNING : status,
        unsettled ? "running" : state,
        counts,
        tasks,
        attempts,
        used,
        wasted,
        missing);
  }

  /**
   * Returns a copy with unknown ends for some tasks. The run waits for a person. If it is to be
   * cancelled, these tasks count as lost.
   */
  RunOutcome without(UnprovenEnds unproven, RunState journal) {
    if (unproven.mayCome()) {
      return disagreeing(disagreements, true);
    }
    if (unproven.told().isEmpty()) {
      return this;
    }
    List<String> told = new ArrayList<>(disagreements);
    told.addAll(unproven.told().values());
    if (!journal.cancelRequested()) {
      return new RunOutcome(
          RunStatus.RUNNING, UNKNOWN, counts, tasks, attempts, used, wasted, told);
    }
    List<TaskOutcome> known =
        tasks.stream()
            .map(task -> unproven.told().containsKey(task.task()) ? task.lost() : task)
            .toList();
    RunStatus ended = status(known, journal);
    return new RunOutcome(
        ended, state(ended, known, journal), counts(known), known, attempts, used, wasted, told);
  }

  /** Returns a copy without the sacct fields that only some Slurm versions have. */
  public RunOutcome plain() {
    return with(attempts.stream().map(row -> row.plain()).toList());
  }

  /** Returns a copy with other rows for the same attempts. */
  RunOutcome with(List<AccountingRecord> rows) {
    return new RunOutcome(status, state, counts, tasks, rows, used, wasted, disagreements);
  }

  /** Returns the first start of an attempt; empty if none started. */
  Optional<Instant> begin() {
    Optional<Instant> begin = Optional.empty();
    for (AccountingRecord row : attempts) {
      boolean earlier =
          row.start().isPresent() && (begin.isEmpty() || row.start().get().isBefore(begin.get()));
      begin = earlier ? row.start() : begin;
    }
    return begin;
  }

  /** Returns the last end of an attempt; empty if none ended. */
  Optional<Instant> end() {
    return attempts.stream().flatMap(row -> row.end().stream()).max(Instant::compareTo);
  }

  /** Returns whether the run has ended: nothing more will happen to it. */
  public boolean ended() {
    return status.ended();
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
    List<AccountingRecord> ordered = new ArrayList<>(rows);
    ordered.sort(RunOutcome::openFirst);
    for (AccountingRecord row : ordered) {
      for (int task : row.tasks().indices()) {
        if (counts(row, task, newest.get(task), holders)) {
          byTask.computeIfAbsent(task, t -> new ArrayList<>()).add(row);
        }
      }
    }
    byTask.values().forEach(RunOutcome::dropSharedRow);
    Map<Integer, QueueEntry> queued = new HashMap<>();
    for (QueueEntry entry : queue) {
      Submission counting = newest.get(entry.task());
      boolean counts = counting != null && entry.name().equals(counting.key());
      // For a chain, this is the link that runs, not the last link, which waits.
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
   * Drops the row of an array's waiting tasks from a task that has a row of its own. If an array is
   * cancelled while one of its tasks is about to start, both rows name that task (observed with
   * Slurm 22.05).
   */
  private static void dropSharedRow(List<AccountingRecord> ofTask) {
    if (ofTask.size() > 1 && ofTask.stream().anyMatch(row -> row.tasks().indices().size() == 1)) {
      ofTask.removeIf(row -> row.tasks().indices().size() > 1);
    }
  }

  /**
   * Returns whether a row decides the state of its task: it must be of the newest submission and of
   * the job that claimed the task. Other jobs of the same name ended when they found the task
   * claimed.
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

  /** Returns the state of a task that no submission holds. */
  private static JobState unmade(RunState journal) {
    if (journal.cancelRequested()) {
      return JobState.CANCELLED;
    }
    // A stage of a pipeline that has no job yet waits for its turn.
    boolean stopped = journal.submissions().isEmpty() && journal.pipeline().isEmpty();
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

  /** Returns the tasks right after a submit. */
  private static List<TaskOutcome> allPending(int count) {
    List<TaskOutcome> tasks = new ArrayList<>(count);
    for (int task = 0; task < count; task++) {
      tasks.add(new TaskOutcome(task, JobState.PENDING, false, false, List.of()));
    }
    return tasks;
  }

  /**
   * Marks tasks without a row as cancelled.
   *
   * <p>A task that was cancelled while it waited in an array leaves no row (observed with Slurm
   * 22.05). This applies only if the queue is empty, all other tasks have ended, and the tasks of
   * the same array ended some time ago.
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

  /** Returns the state of a task that is not in the queue, from its newest row. */
  private static TaskOutcome gone(
      int task, List<AccountingRecord> attempts, RunFacts facts, Instant now) {
    if (attempts.isEmpty()) {
      return new TaskOutcome(task, JobState.PENDING, false, false, attempts);
    }
    AccountingRecord newest = attempts.get(attempts.size() - 1);
    boolean over = newest.ended() && newest.state().endsTask();
    boolean mayRunAgain = facts.work().requeues() > 0 && newest.state().isRequeuedBySlurm();
    boolean settled =
        !mayRunAgain
            || newest.end().map(end -> end.plus(REQUEUE_GRACE).isBefore(now)).orElse(false);
    return new TaskOutcome(task, newest.state(), over && settled, false, attempts);
  }

  private static RunStatus status(List<TaskOutcome> tasks, RunState journal) {
    // An ended row confirms a submission even before reconcile has recorded that.
    for (Submission submission : journal.current()) {
      if (submission.unresolved()) {
        return RunStatus.RUNNING;
      }
    }
    boolean completed = true;
    boolean ended = true;
    for (TaskOutcome task : tasks) {
      if (task.waitsAgain()) {
        return RunStatus.RETRY;
      }
      ended &= task.ended();
      completed &= task.completed();
    }
    return !ended ? RunStatus.RUNNING : completed ? RunStatus.COMPLETED : RunStatus.FAILED;
  }

  private static String state(RunStatus status, List<TaskOutcome> tasks, RunState journal) {
    if (status.ended()) {
      return worst(tasks);
    }
    boolean unconfirmed = false;
    for (Submission submission : journal.current()) {
      if (submission.unresolved()) {
        return UNKNOWN;
      }
      unconfirmed |= submission.phase() == Phase.SUBMITTED;
    }
    return begun(tasks) ? RUNNING : unconfirmed ? UNCONFIRMED : PENDING;
  }

  /** Returns whether a run in this state waits for its first task to begin. */
  public static boolean waits(String state) {
    return WAITING.contains(state);
  }

  private static boolean begun(List<TaskOutcome> tasks) {
    for (TaskOutcome task : tasks) {
      if (task.ended() || task.state() != JobState.PENDING) {
        return true;
      }
    }
    return false;
  }

  /** Returns the most frequent state other than COMPLETED; {@code completed} if there is none. */
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
