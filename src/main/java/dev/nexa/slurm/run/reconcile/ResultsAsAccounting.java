package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord.Witness;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunFolder.Claim;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Submission.Phase;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Builds rows like accounting's on a cluster without accounting
 * (AccountingStorageType=accounting_storage/none).
 *
 * <p>The sources are {@code results/} and {@code claims/} of the submission, squeue, and {@code
 * scontrol show job}, which knows an ended job for MinJobAge (slurm.conf(5)). A task's result
 * decides when the task ended and whether it succeeded. slurmctld knows why it failed and which
 * resources it held; later, the planned resources are used.
 */
final class ResultsAsAccounting {
  private final RunFacts facts;
  private final Submission submission;
  private final Map<Integer, QueueEntry> queue = new HashMap<>();
  private final Map<Integer, ControllerJob> remembered = new HashMap<>();
  private final Map<Integer, Claim> claims = new TreeMap<>();
  private final Map<Integer, TreeMap<Integer, JsonObject>> results = new TreeMap<>();

  /** Reads the submission's folder. A result that cannot be read is reported and ignored. */
  ResultsAsAccounting(
      RunFolder run,
      RunFacts facts,
      Submission submission,
      List<QueueEntry> queued,
      List<ControllerJob> known,
      List<String> problems) {
    this.facts = facts;
    this.submission = submission;
    for (QueueEntry entry : queued) {
      // An array that was cancelled before it was split into tasks is listed as task 0 too.
      queue.merge(
          entry.task(),
          entry,
          (one, other) -> other.rawJobId() == other.arrayJobId() && !other.active() ? one : other);
    }
    known.forEach(this::remember);
    run.claims(submission.key()).forEach(claim -> claims.put(claim.task(), claim));
    for (Path file : run.results(submission.key())) {
      try {
        JsonObject result = Json.parseObject(DurableFiles.read(file));
        results
            .computeIfAbsent((int) result.number("task"), task -> new TreeMap<>())
            .put((int) result.number("restart"), result);
      } catch (IllegalArgumentException | UncheckedIOException broken) {
        problems.add(file + ": " + broken.getMessage());
      }
    }
  }

  /**
   * The queue lists this user's jobs only; scontrol may show another user's job of the same name.
   */
  private void remember(ControllerJob job) {
    int task = job.row().tasks().indices().get(0) + submission.offset();
    QueueEntry entry = queue.get(task);
    if (entry != null
        && !entry.active()
        && entry.rawJobId() == job.row().rawJobId()
        && job.row().state().endsTask()) {
      remembered.put(task, job);
    }
  }

  /**
   * Returns the rows of all attempts that have begun or ended.
   *
   * @param asked when squeue was asked
   */
  List<AccountingRecord> rows(Instant asked) {
    List<AccountingRecord> rows = new ArrayList<>();
    for (int task : submission.tasks().indices()) {
      TreeMap<Integer, JsonObject> attempts = results.getOrDefault(task, new TreeMap<>());
      QueueEntry entry = queue.get(task);
      boolean active = entry != null && entry.active();
      ControllerJob known = remembered.get(task);
      boolean untold =
          attempts.isEmpty() || (known != null && known.restarts() > attempts.lastKey());
      Optional<Instant> before = Optional.ofNullable(claims.get(task)).map(Claim::at);
      int expected = 0;
      for (Map.Entry<Integer, JsonObject> attempt : attempts.entrySet()) {
        Instant start = start(attempt.getValue());
        if (attempt.getKey() > expected && before.isPresent()) {
          rows.add(killed(task, before.get(), earlier(limit(before.get()), start), true));
        }
        boolean newest = attempt.getKey().equals(attempts.lastKey()) && !active && !untold;
        rows.add(ended(task, attempt.getValue(), newest ? entry : null));
        before = Optional.of(end(attempt.getValue()));
        expected = attempt.getKey() + 1;
      }
      if (known != null && untold) {
        Instant start = known.row().start().orElse(known.row().submit());
        if (known.restarts() > expected && before.isPresent()) {
          rows.add(killed(task, before.get(), earlier(limit(before.get()), start), true));
        }
        rows.add(remembered(task, known.row()));
      } else if (attempts.isEmpty() && !active) {
        withoutResult(task, asked).ifPresent(rows::add);
      }
    }
    return rows;
  }

  /**
   * Returns the row of an attempt with a result. slurmctld knows better what ended it, while it
   * still shows the task.
   */
  private AccountingRecord ended(int task, JsonObject result, @Nullable QueueEntry entry) {
    JobState own = state(result, Duration.between(start(result), end(result)));
    JobState said = entry == null ? own : entry.state();
    AccountingRecord row =
        row(
            task,
            result.number("array_job_id"),
            result.number("job_id"),
            contradicts(result, said) ? own : said,
            said.name(),
            exitCode(result),
            Optional.of(start(result)),
            Optional.of(end(result)),
            result.text("node"));
    ControllerJob known = entry == null ? null : remembered.get(task);
    return known == null || !known.row().ran()
        ? row
        : holding(row, known.row(), row.elapsedSeconds());
  }

  /**
   * Returns the exit code in sacct's form: the status of the first failure, or the signal that
   * ended it.
   */
  private static String exitCode(JsonObject result) {
    long signal =
        result.optionalObject("failure").map(failure -> failure.number("signal")).orElse(0L);
    return signal > 0 ? "0:" + signal : result.number("exit_code") + ":0";
  }

  /** Returns whether slurmctld contradicts the result on whether the attempt succeeded. */
  private static boolean contradicts(JsonObject result, JobState said) {
    boolean well = result.number("exit_code") == 0;
    return said == JobState.COMPLETED ? !well : well && !result.text("signal").equals("TERM");
  }

  /** Returns the attempt's row, with the resources and nodes that slurmctld knows. */
  private static AccountingRecord holding(
      AccountingRecord row, AccountingRecord known, long elapsedSeconds) {
    return new AccountingRecord(
        new AccountingRecord.JobIds(
            row.cluster(), row.arrayJobId(), row.rawJobId(), row.tasks(), row.name()),
        new AccountingRecord.Association(known.user(), known.account(), known.partition()),
        new AccountingRecord.Status(row.state(), row.rawState(), row.exitCode(), known.reason()),
        new AccountingRecord.Times(known.submit(), row.start(), row.end(), elapsedSeconds),
        new AccountingRecord.Allocated(
            known.nodes(), known.nodeCount(), known.allocTres(), known.reqTres()),
        known.witness(),
        AccountingRecord.More.NONE);
  }

  /** Returns the row of an attempt without a result, from slurmctld alone. */
  private AccountingRecord remembered(int task, AccountingRecord known) {
    AccountingRecord row =
        row(
            task,
            known.arrayJobId(),
            known.rawJobId(),
            known.state(),
            known.rawState(),
            known.exitCode(),
            known.start(),
            known.end(),
            "");
    return holding(row, known, known.elapsedSeconds());
  }

  /**
   * Returns the end state from the result. Whether SIGTERM meant a timeout follows from the elapsed
   * time.
   */
  private JobState state(JsonObject result, Duration elapsed) {
    if (result.text("signal").equals("TERM")) {
      return elapsed.compareTo(facts.work().timeLimit()) >= 0
          ? JobState.TIMEOUT
          : JobState.CANCELLED;
    }
    return result.number("exit_code") == 0 ? JobState.COMPLETED : JobState.FAILED;
  }

  /**
   * Returns the row of the newest attempt if it left no result.
   *
   * <p>While squeue shows the task, squeue decides. Later only the claim shows that the attempt
   * began: the attempt or its node was killed at an unknown time. It is charged for its whole time
   * limit, and ends when that has passed.
   */
  private Optional<AccountingRecord> withoutResult(int task, Instant asked) {
    QueueEntry entry = queue.get(task);
    Claim claim = claims.get(task);
    if (entry != null) {
      return Optional.of(row(task, entry, entry.start().filter(at -> entry.end().isPresent())));
    }
    if (claim != null) {
      Instant until = earlier(limit(claim.at()), asked);
      return Optional.of(killed(task, claim.at(), until, until.equals(limit(claim.at()))));
    }
    return submission.phase() == Phase.CONFIRMED ? Optional.of(neverBegan(task)) : Optional.empty();
  }

  private AccountingRecord row(int task, QueueEntry entry, Optional<Instant> start) {
    Optional<Instant> end = start.isPresent() ? entry.end() : submission.answered();
    String state = entry.state().name();
    return row(
        task, entry.arrayJobId(), entry.rawJobId(), entry.state(), state, "", start, end, "");
  }

  /**
   * Returns the row of a killed attempt, which starts at its claim or after the previous attempt.
   * The row is open while the attempt may still run.
   */
  private AccountingRecord killed(int task, Instant start, Instant until, boolean over) {
    Claim claim = claims.get(task);
    long jobId = claim == null ? jobId() : claim.jobId();
    JobState state = over ? JobState.FAILED : JobState.RUNNING;
    return row(
        task,
        jobId(),
        jobId,
        state,
        state.name(),
        "",
        Optional.of(start),
        over ? Optional.of(until) : Optional.empty(),
        "");
  }

  /**
   * Returns the row of a task that never claimed its work: its job is known, but squeue does not
   * list it.
   */
  private AccountingRecord neverBegan(int task) {
    Optional<Instant> end = submission.answered();
    JobState state = JobState.CANCELLED;
    return row(task, jobId(), jobId(), state, state.name(), "", Optional.empty(), end, "");
  }

  /**
   * Returns the array's job id: from sbatch's answer, from squeue, or the lowest id of its tasks.
   */
  private long jobId() {
    Stream<Long> queued = queue.values().stream().map(QueueEntry::arrayJobId);
    Stream<Long> claiming = claims.values().stream().map(Claim::jobId);
    return submission
        .jobId()
        .or(() -> Stream.concat(queued, claiming).min(Comparator.naturalOrder()))
        .orElse(Long.MAX_VALUE);
  }

  private Instant limit(Instant start) {
    return start.plus(facts.work().longestLimit());
  }

  private static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }

  private static Instant start(JsonObject result) {
    return Instant.ofEpochSecond(result.number("started"));
  }

  private static Instant end(JsonObject result) {
    return Instant.ofEpochSecond(result.number("ended"));
  }

  private AccountingRecord row(
      int task,
      long arrayJobId,
      long jobId,
      JobState state,
      String rawState,
      String exitCode,
      Optional<Instant> start,
      Optional<Instant> end,
      String node) {
    boolean ran = start.isPresent();
    return new AccountingRecord(
        new AccountingRecord.JobIds(
            facts.place().cluster(), arrayJobId, jobId, IndexRange.of(task), submission.key()),
        AccountingRecord.Association.UNKNOWN,
        new AccountingRecord.Status(state, rawState, exitCode, ""),
        new AccountingRecord.Times(
            start.orElse(submission.intended()),
            start,
            end,
            ran && end.isPresent() ? Duration.between(start.get(), end.get()).toSeconds() : 0),
        new AccountingRecord.Allocated(
            node,
            node.isEmpty() ? 0 : 1,
            ran ? facts.planned().of(task).tres() : "",
            facts.planned().of(task).tres()),
        Witness.JOB,
        AccountingRecord.More.NONE);
  }
}
