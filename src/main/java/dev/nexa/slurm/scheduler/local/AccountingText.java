package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.scheduler.slurm.SacctText;
import dev.nexa.slurm.units.IndexRange;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A job's rows as sacct prints them for our call, so that one reader reads both. Tasks that never
 * started are folded into one row, as slurmdbd has them. Pure.
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
   * The rows of what ended after a time or has not ended.
   *
   * @param since epoch seconds
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
    Options options = job.options();
    String tres = job.resources().tres();
    List<String> fields =
        List.of(
            Long.toString(attempt.raw()),
            id,
            LocalScheduler.CLUSTER,
            job.submission().user().name(),
            options.text(Option.ACCOUNT),
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
