package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a job's rows in the format of our sacct call, so that {@link SacctText} reads the rows of
 * both schedulers. Tasks that never started share one row, as in slurmdbd. Pure.
 */
final class AccountingText {
  private static final String UNKNOWN = "Unknown";

  private final Job job;
  private final long now;
  private final StringBuilder text = new StringBuilder();

  private AccountingText(Job job, long now) {
    this.job = job;
    this.now = now;
  }

  /**
   * Returns the rows of attempts that ended at or after a time, or have not ended.
   *
   * @param since epoch seconds
   * @param now epoch seconds
   */
  static String of(Job job, List<Attempt> attempts, long since, long now) {
    AccountingText rows = new AccountingText(job, now);
    Map<String, List<Attempt>> folded = new LinkedHashMap<>();
    for (Attempt attempt : attempts) {
      if (attempt.end() != 0 && attempt.end() < since) {
        continue;
      }
      if (attempt.start() == 0 && attempt.restart() == 0) {
        String key = attempt.state() + attempt.end();
        folded.computeIfAbsent(key, state -> new ArrayList<>()).add(attempt);
      } else {
        rows.row(attempt, job.taskId(attempt.task()));
      }
    }
    folded.values().forEach(some -> rows.row(some.get(0), rows.range(some)));
    return rows.text.toString();
  }

  private String range(List<Attempt> some) {
    if (some.size() == 1) {
      return job.taskId(some.get(0).task());
    }
    IndexRange tasks = new IndexRange(some.stream().map(Attempt::task).toList());
    String atOnce = job.throttle().map(number -> "%" + number).orElse("");
    return job.id() + "_[" + tasks + atOnce + "]";
  }

  private void row(Attempt attempt, String id) {
    boolean started = attempt.start() != 0;
    boolean ended = attempt.end() != 0;
    String notStarted = ended ? "None" : UNKNOWN;
    long until = ended ? attempt.end() : now;
    String state = started ? "RUNNING" : "PENDING";
    OptionReader options = job.options();
    String tres = job.resources().tres();
    List<String> fields =
        List.of(
            Long.toString(attempt.raw()),
            id,
            LocalScheduler.CLUSTER,
            job.submission().user().name(),
            options.text(SbatchOption.ACCOUNT),
            job.partition(),
            ended ? attempt.state() : state,
            attempt.exitCode(),
            Long.toString(attempt.submit()),
            started ? Long.toString(attempt.start()) : notStarted,
            ended ? Long.toString(attempt.end()) : UNKNOWN,
            Long.toString(started ? Math.max(0, until - attempt.start()) : 0),
            "1",
            started ? job.submission().host() : "None assigned",
            started ? tres : "",
            job.name(),
            "None",
            tres);
    text.append(String.join(String.valueOf(SacctText.DELIMITER), fields)).append('\n');
  }
}
