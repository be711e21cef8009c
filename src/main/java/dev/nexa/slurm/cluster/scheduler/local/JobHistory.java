package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.Predicate;

/** A job's attempts, derived from its events. Tasks are ordered by index. Not thread-safe. */
final class JobHistory {
  private final Job job;
  private final Map<Integer, List<Attempt>> attempts = new LinkedHashMap<>();

  /** Creates the history of a job without events: each task has one pending attempt. */
  JobHistory(Job job) {
    this.job = job;
    for (int task : job.tasks().indices()) {
      Attempt first = Attempt.first(task, job.id(), job.submission().submitted());
      attempts.put(task, new ArrayList<>(List.of(first)));
    }
  }

  Job job() {
    return job;
  }

  /** Applies one event. An event of a task that the job does not have is ignored. */
  void apply(JobEvent event) {
    JsonObject json = event.json();
    List<Attempt> all = attempts.get((int) json.number("task"));
    if (all == null) {
      return;
    }
    long at = json.number("at");
    Attempt last = all.get(all.size() - 1);
    Attempt now =
        switch (json.text("event")) {
          case "START" -> last.started(at, json.number("raw"));
          case "END" -> last.ended(at, json.text("state"), json.text("exit"), json.flag("again"));
          default -> last.gone();
        };
    all.set(all.size() - 1, now);
    if (now.over() && now.again()) {
      all.add(now.next(at));
    }
  }

  boolean has(int task) {
    return attempts.containsKey(task);
  }

  /** Returns the newest attempts that match the condition, in the order of tasks. */
  List<Attempt> last(Predicate<Attempt> so) {
    return attempts.values().stream().map(all -> all.get(all.size() - 1)).filter(so).toList();
  }

  /** Returns whether any task is pending, running, or still has processes. */
  boolean open() {
    return !last(attempt -> !attempt.over()).isEmpty();
  }

  /** Returns how many tasks have no job id of their own yet. */
  long unnumbered() {
    return last(attempt -> attempt.pending() && attempt.restart() == 0).size();
  }

  /**
   * Returns the tasks that are pending, running or completing, one by one as squeue does.
   *
   * @param dependency what the tasks wait for
   * @param others the history of each job that they wait for
   */
  List<QueueEntry> queue(Dependency dependency, LongFunction<JobHistory> others) {
    boolean busy = !last(attempt -> attempt.running() || attempt.ending()).isEmpty();
    return last(attempt -> !attempt.over()).stream()
        .map(
            attempt ->
                new QueueEntry(
                    attempt.raw(),
                    job.id(),
                    attempt.task(),
                    attempt.queueState(),
                    attempt.pending() ? reason(dependency.verdict(attempt, others), busy) : "None",
                    Attempt.time(attempt.start()),
                    Optional.empty(),
                    job.name()))
        .toList();
  }

  /** Returns why a pending task waits, as Slurm's reason code. */
  private String reason(Dependency.Verdict verdict, boolean busy) {
    return switch (verdict) {
      case WAITS -> "Dependency";
      case NEVER -> "DependencyNeverSatisfied";
      case MET -> !busy ? "None" : job.throttle().isPresent() ? "JobArrayTaskLimit" : "Resources";
    };
  }

  /**
   * Returns the rows of attempts that ended at or after a time, or have not ended. Tasks that never
   * started share one row, as in slurmdbd.
   *
   * @param since epoch seconds
   * @param now epoch seconds
   */
  List<AccountingRecord> rows(long since, long now) {
    List<AccountingRecord> rows = new ArrayList<>();
    Map<String, List<Attempt>> folded = new LinkedHashMap<>();
    for (Attempt attempt : attempts.values().stream().flatMap(List::stream).toList()) {
      if (attempt.end() != 0 && attempt.end() < since) {
        continue;
      }
      if (attempt.start() == 0 && attempt.restart() == 0) {
        String key = attempt.state() + attempt.end();
        folded.computeIfAbsent(key, state -> new ArrayList<>()).add(attempt);
      } else {
        rows.add(row(List.of(attempt), now));
      }
    }
    folded.values().forEach(some -> rows.add(row(some, now)));
    return rows;
  }

  private AccountingRecord row(List<Attempt> alike, long now) {
    Attempt attempt = alike.get(0);
    boolean started = attempt.start() != 0;
    boolean ended = attempt.end() != 0;
    String state = ended ? attempt.state() : started ? "RUNNING" : "PENDING";
    String tres = job.resources().tres();
    List<Integer> tasks =
        job.isArray() ? alike.stream().map(Attempt::task).toList() : List.<Integer>of();
    return new AccountingRecord(
        new AccountingRecord.JobIds(
            LocalScheduler.CLUSTER, job.id(), attempt.raw(), new IndexRange(tasks), job.name()),
        new AccountingRecord.Association(
            TaskEnvironment.user(), job.option("account", ""), job.partition()),
        new AccountingRecord.Status(JobState.parse(state), state, attempt.exitCode(), "None"),
        new AccountingRecord.Times(
            Instant.ofEpochSecond(attempt.submit()),
            Attempt.time(attempt.start()),
            Attempt.time(attempt.end()),
            started ? Math.max(0, (ended ? attempt.end() : now) - attempt.start()) : 0),
        new AccountingRecord.Allocated(
            started ? job.submission().host() : "None assigned", 1, started ? tres : "", tres),
        AccountingRecord.Witness.ACCOUNTING,
        AccountingRecord.More.NONE);
  }
}
