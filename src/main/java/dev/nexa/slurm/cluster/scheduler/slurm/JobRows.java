package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.ResizedPart;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the rows of one answer together, because what a row means can depend on the other rows of
 * its job. The order of the rows does not matter. Pure.
 */
final class JobRows {
  private JobRows() {}

  /**
   * Returns the rows with the time that each held its resources, without the siblings that a
   * federation revoked.
   *
   * <p>If a revoked job has another row, the job ran on another cluster of its federation. The
   * command sacct hides its REVOKED rows too, unless it is asked for duplicates (sacct(1)).
   */
  static List<AccountingRecord> together(List<AccountingRecord> rows) {
    Set<JobState> unusual = Set.of(JobState.RESIZING, JobState.REVOKED);
    if (rows.stream().map(AccountingRecord::state).noneMatch(unusual::contains)) {
      return rows;
    }
    Map<String, List<AccountingRecord>> jobs = new LinkedHashMap<>();
    Set<String> ran = new HashSet<>();
    // A row that sacct prints twice would seem to follow itself.
    for (AccountingRecord row : new LinkedHashSet<>(rows)) {
      String job = row.cluster() + " " + row.rawJobId() + " " + row.name();
      jobs.computeIfAbsent(job, none -> new ArrayList<>()).add(row);
      // A row that only says that the job runs again does not say how it ends.
      boolean again = row.state().endsAttempt() && !row.state().endsTask();
      if (row.state() != JobState.REVOKED && !again) {
        ran.add(federated(row));
      }
    }
    List<AccountingRecord> all = new ArrayList<>(rows.size());
    for (List<AccountingRecord> job : jobs.values()) {
      job.sort(Comparator.comparing(AccountingRecord::submit));
      for (int i = 0; i < job.size(); i++) {
        AccountingRecord row = job.get(i);
        if (row.state() != JobState.REVOKED || row.ran() || !ran.contains(federated(row))) {
          all.add(i == 0 ? row : after(job.get(i - 1), row));
        }
      }
    }
    return all;
  }

  private static String federated(AccountingRecord row) {
    return row.arrayJobId() + " " + row.name();
  }

  /** Returns a row as it was held. After a resize it may hold less than the job had asked for. */
  private static AccountingRecord after(AccountingRecord before, AccountingRecord row) {
    if (before.state() != JobState.RESIZING || !before.ended() || row.start().isEmpty()) {
      return row;
    }
    List<String> faults = new ArrayList<>(row.more().faults());
    faults.removeAll(RowFaults.lessThanAsked(row.allocTres(), row.reqTres()));
    Instant start = row.start().get();
    // A row that does not repeat the Start counts from its own.
    long repeated = 0;
    if (before.start().equals(row.start()) && !start.isAfter(before.end().orElseThrow())) {
      long end = before.end().get().getEpochSecond();
      repeated = ResizedPart.repeated(start.getEpochSecond(), row.submit().getEpochSecond(), end);
      RowFaults.startsEarly(row).ifPresent(faults::remove);
    }
    long held = Math.max(0, row.elapsedSeconds() - repeated);
    return row.holding(start.plusSeconds(repeated), row.allocTres(), held).faulty(faults);
  }
}
