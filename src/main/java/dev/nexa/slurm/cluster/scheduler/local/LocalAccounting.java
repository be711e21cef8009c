package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Answers accounting queries from the jobs' folders. */
final class LocalAccounting {
  /** Equal to the grace of our sacct call, for clocks that differ. */
  private static final Duration GRACE = Duration.ofDays(1);

  private final StateDirectory state;
  private final RunnerStarter runners;

  LocalAccounting(StateDirectory state, RunnerStarter runners) {
    this.state = state;
    this.runners = runners;
  }

  List<AccountingRecord> answer(AccountingQuery query) {
    List<AccountingRecord> rows = new ArrayList<>();
    long since = query.since().minus(GRACE).getEpochSecond();
    for (JobDirectory directory : asked(query)) {
      if (state.isOpen(directory)) {
        runners.see(directory);
      }
      rows.addAll(rows(directory.history(), since, Instant.now().getEpochSecond()));
    }
    return rows;
  }

  private List<JobDirectory> asked(AccountingQuery query) {
    if (query.names().isEmpty()) {
      return query.jobIds().stream().filter(state::isMine).map(state::job).toList();
    }
    return state.allJobs().stream()
        .filter(directory -> query.names().contains(directory.job().name()))
        .toList();
  }

  /**
   * Returns the rows of attempts that ended at or after a time, or have not ended. Tasks that never
   * started share one row, as in slurmdbd. Pure.
   *
   * @param since epoch seconds
   * @param now epoch seconds
   */
  static List<AccountingRecord> rows(JobHistory history, long since, long now) {
    List<AccountingRecord> rows = new ArrayList<>();
    Map<String, List<Attempt>> folded = new LinkedHashMap<>();
    for (Attempt attempt : history.all()) {
      if (attempt.end() != 0 && attempt.end() < since) {
        continue;
      }
      if (attempt.start() == 0 && attempt.restart() == 0) {
        String key = attempt.state() + attempt.end();
        folded.computeIfAbsent(key, state -> new ArrayList<>()).add(attempt);
      } else {
        rows.add(row(history.job(), List.of(attempt), now));
      }
    }
    folded.values().forEach(some -> rows.add(row(history.job(), some, now)));
    return rows;
  }

  private static AccountingRecord row(Job job, List<Attempt> alike, long now) {
    Attempt attempt = alike.get(0);
    boolean started = attempt.start() != 0;
    boolean ended = attempt.end() != 0;
    long until = ended ? attempt.end() : now;
    String state = ended ? attempt.state() : started ? "RUNNING" : "PENDING";
    String tres = job.resources().tres();
    List<Integer> tasks =
        job.isArray() ? alike.stream().map(Attempt::task).toList() : List.<Integer>of();
    return new AccountingRecord(
        new AccountingRecord.JobIds(
            LocalScheduler.CLUSTER, job.id(), attempt.raw(), new IndexRange(tasks), job.name()),
        new AccountingRecord.Association(
            TaskEnvironment.user(), job.option(SbatchOption.ACCOUNT, ""), job.partition()),
        new AccountingRecord.Status(JobState.parse(state), state, attempt.exitCode(), "None"),
        new AccountingRecord.Times(
            Instant.ofEpochSecond(attempt.submit()),
            Attempt.time(attempt.start()),
            Attempt.time(attempt.end()),
            started ? Math.max(0, until - attempt.start()) : 0),
        new AccountingRecord.Allocated(
            started ? job.submission().host() : "None assigned", 1, started ? tres : "", tres),
        AccountingRecord.Witness.ACCOUNTING,
        AccountingRecord.More.NONE);
  }
}
