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
import dev.nexa.slurm.scheduler.RememberedJob;
import dev.nexa.slurm.units.IndexRange;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a submission's jobs tell of themselves on a cluster that keeps no accounting
 * (AccountingStorageType=accounting_storage/none): rows like accounting's, from {@code results/}
 * and {@code claims/}, and from squeue and {@code scontrol show job} while slurmctld still
 * remembers what has ended (MinJobAge). A task's result has the last word on when it ended, and
 * whether well; slurmctld knows why it did not, and what it held. After that it is what was
 * planned.
 */
final class JobResults {
  private final RunFacts facts;
  private final Submission submission;
  private final Map<Integer, QueueEntry> queue = new HashMap<>();
  private final Map<Integer, RememberedJob> remembered = new HashMap<>();
  private final Map<Integer, Claim> claims = new TreeMap<>();
  private final Map<Integer, TreeMap<Integer, JsonObject>> results = new TreeMap<>();

  /** Reads the submission's folder; a result that can't be read is told and counts as none. */
  JobResults(
      RunFolder run,
      RunFacts facts,
      Submission submission,
      List<QueueEntry> queued,
      List<RememberedJob> known,
      List<String> problems) {
    this.facts = facts;
    this.submission = submission;
    queued.forEach(entry -> queue.put(entry.task(), entry));
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

  /** The queue is this user's own; a job of the same name may be anybody's. */
  private void remember(RememberedJob job) {
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
   * The rows of what has ended, and of what has begun.
   *
   * @param asked when squeue was asked
   */
  List<AccountingRecord> rows(Instant asked) {
    List<AccountingRecord> rows = new ArrayList<>();
    for (int task : submission.tasks().indices()) {
      TreeMap<Integer, JsonObject> attempts = results.getOrDefault(task, new TreeMap<>());
      QueueEntry entry = queue.get(task);
      boolean active = entry != null && entry.active();
      RememberedJob known = remembered.get(task);
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

  /** It left its result; slurmctld knows better what ended it, while it still shows that. */
  private AccountingRecord ended(int task, JsonObject result, @Nullable QueueEntry entry) {
    Duration elapsed = Duration.between(start(result), end(result));
    JobState own = state(result, elapsed);
    JobState said = entry == null ? own : entry.state();
    AccountingRecord row =
        row(
            task,
            result.number("array_job_id"),
            result.number("job_id"),
            contradicts(result, said) ? own : said,
            said.name(),
            result.number("exit_code") + ":0",
            Optional.of(start(result)),
            Optional.of(end(result)),
            result.text("node"));
    RememberedJob known = entry == null ? null : remembered.get(task);
    return known == null || !known.row().ran()
        ? row
        : holding(row, known.row(), row.elapsedSeconds());
  }

  /** Whether it ended well is the result's to say. */
  private static boolean contradicts(JsonObject result, JobState said) {
    boolean well = result.number("exit_code") == 0;
    return said == JobState.COMPLETED ? !well : well && !result.text("signal").equals("TERM");
  }

  /** The attempt as its result tells it, and what slurmctld knows of it beside. */
  private static AccountingRecord holding(
      AccountingRecord row, AccountingRecord known, long elapsedSeconds) {
    return new AccountingRecord(
        row.cluster(),
        row.arrayJobId(),
        row.rawJobId(),
        row.tasks(),
        known.user(),
        known.account(),
        known.partition(),
        row.state(),
        row.rawState(),
        row.exitCode(),
        known.submit(),
        row.start(),
        row.end(),
        elapsedSeconds,
        known.nodes(),
        known.nodeCount(),
        known.allocTres(),
        known.reqTres(),
        known.reason(),
        row.name(),
        known.witness());
  }

  /** It left no result: all is slurmctld's word. */
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

  /** The job knows how it ended and that it was told to; who told it, only the clock hints at. */
  private JobState state(JsonObject result, Duration elapsed) {
    if (result.text("signal").equals("TERM")) {
      return elapsed.compareTo(facts.timeLimit()) >= 0 ? JobState.TIMEOUT : JobState.CANCELLED;
    }
    return result.number("exit_code") == 0 ? JobState.COMPLETED : JobState.FAILED;
  }

  /**
   * The newest attempt, where it left no result. squeue tells, while it still shows the task. Later
   * only the claim tells that it began: it was killed outright, or with its node, nobody knows
   * when; it is given all of its time limit, and is over once that has passed.
   */
  private Optional<AccountingRecord> withoutResult(int task, Instant asked) {
    QueueEntry entry = queue.get(task);
    Claim claim = claims.get(task);
    if (entry != null) {
      Optional<Instant> start = entry.start().filter(at -> entry.end().isPresent());
      return Optional.of(row(task, entry, start));
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

  /** From a claim or the attempt before; open while it may still be at work. */
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

  /** The job is known, squeue does not hold the task, and it never claimed its work. */
  private AccountingRecord neverBegan(int task) {
    Optional<Instant> end = submission.answered();
    JobState state = JobState.CANCELLED;
    return row(task, jobId(), jobId(), state, state.name(), "", Optional.empty(), end, "");
  }

  /** The array's id: sbatch's answer, what squeue shows, or the lowest of its tasks' own. */
  private long jobId() {
    if (submission.jobId().isPresent()) {
      return submission.jobId().get();
    }
    long lowest = Long.MAX_VALUE;
    for (QueueEntry entry : queue.values()) {
      lowest = Math.min(lowest, entry.arrayJobId());
    }
    for (Claim claim : claims.values()) {
      lowest = Math.min(lowest, claim.jobId());
    }
    return lowest;
  }

  private Instant limit(Instant start) {
    return start.plus(facts.timeLimit());
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
        facts.cluster(),
        arrayJobId,
        jobId,
        IndexRange.of(task),
        "",
        "",
        "",
        state,
        rawState,
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
