package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares accounting with the files that jobs write: a claim at the start, a result at the end.
 * Accounting must have at least as many attempts.
 *
 * @param missing a sentence for each task with attempts that accounting lacks
 * @param differing on a cluster without accounting, the differences between a task's result and
 *     slurmctld
 * @param misnamed the keys of submissions with a job that ran and is not recorded yet
 * @param lastSign when the newest result was written or the newest submission was answered,
 *     whichever is later; the epoch if {@code missing} is empty
 */
public record SourceComparison(
    List<String> missing, List<String> differing, Set<String> misnamed, Instant lastSign) {
  /** slurmctld keeps messages while slurmdbd is down. After this time they count as lost. */
  private static final Duration PATIENCE = Duration.ofHours(1);

  private static final int MOST = 20;

  /** In seconds. A job that finds its task claimed ends faster than this. */
  private static final int BRIEF = 30;

  private static final int MOST_LINKS = 1000;

  public static SourceComparison of(RunFolder run, RunState journal, RunOutcome outcome) {
    Map<String, Map<Integer, Integer>> rows = new HashMap<>();
    for (AccountingRecord row : outcome.attempts()) {
      Map<Integer, Integer> byTask = rows.computeIfAbsent(row.name(), key -> new HashMap<>());
      row.tasks().indices().forEach(task -> byTask.merge(task, 1, Integer::sum));
    }
    List<String> missing = new ArrayList<>();
    for (Submission submission : journal.submissions()) {
      Map<Integer, Integer> known = rows.getOrDefault(submission.key(), Map.of());
      for (Map.Entry<Integer, Integer> begun : attempts(run, submission).entrySet()) {
        int attempts = known.getOrDefault(begun.getKey(), 0);
        boolean lost = outcome.tasks().get(begun.getKey()).state() == JobState.VANISHED;
        if (begun.getValue() > attempts && !lost) {
          missing.add(
              "task %s of %s began %s%s, accounting has %s"
                  .formatted(
                      begun.getKey(),
                      submission.key(),
                      begun.getValue(),
                      begun.getValue() == 1 ? " attempt" : " attempts",
                      attempts));
        }
      }
    }
    Set<String> misnamed = endedAtTheClaim(run, outcome, missing);
    misnamed.addAll(duplicates(run, journal, outcome, missing));
    return new SourceComparison(
        missing,
        differing(outcome),
        misnamed,
        missing.isEmpty() ? Instant.EPOCH : lastSign(run, journal));
  }

  /**
   * Returns the keys of submissions whose recorded job completed at once while another job claimed
   * the task. That other job did the work, and its cost is missing.
   */
  private static Set<String> endedAtTheClaim(
      RunFolder run, RunOutcome outcome, List<String> missing) {
    Set<String> keys = new TreeSet<>();
    Set<String> known = new HashSet<>();
    int looked = 0;
    List<AccountingRecord> brief = new ArrayList<>();
    for (AccountingRecord row : outcome.attempts()) {
      known.add(row.name() + "/" + row.rawJobId());
      boolean atOnce =
          row.state() == JobState.COMPLETED
              && row.elapsedSeconds() < BRIEF
              && row.witness() == AccountingRecord.Witness.ACCOUNTING;
      // Limits the number of claims to read: a job is a whole array, so a few rows are enough.
      if (atOnce && looked++ < MOST_LINKS) {
        brief.add(row);
      }
    }
    for (AccountingRecord row : brief) {
      for (int task : row.tasks().indices()) {
        Optional<Long> holder = run.holder(row.name(), task);
        if (holder.isPresent() && !known.contains(row.name() + "/" + holder.get())) {
          keys.add(row.name());
          missing.add(
              ("task %s of %s was worked on by job %s, of which accounting does not tell; job"
                      + " %s ended at once")
                  .formatted(task, row.name(), holder.get(), row.rawJobId()));
        }
      }
    }
    return keys;
  }

  /**
   * Returns the keys of submissions with a job that left its id when it found its task claimed, and
   * that accounting by job id does not show. Its cost is missing.
   */
  private static Set<String> duplicates(
      RunFolder run, RunState journal, RunOutcome outcome, List<String> missing) {
    Set<String> known = new HashSet<>();
    outcome.attempts().forEach(row -> known.add(row.name() + "/" + row.arrayJobId()));
    Set<String> keys = new TreeSet<>();
    for (Submission submission : journal.submissions()) {
      for (long id : run.duplicates(submission.key())) {
        if (submission.jobId().isPresent() && !known.contains(submission.key() + "/" + id)) {
          keys.add(submission.key());
          missing.add(
              ("job %s also has the name %s and ended because its task was claimed; accounting"
                      + " does not show it")
                  .formatted(id, submission.key()));
        }
      }
    }
    return keys;
  }

  private static List<String> differing(RunOutcome outcome) {
    List<String> differing = new ArrayList<>();
    for (AccountingRecord row : outcome.attempts()) {
      boolean ofBoth = row.witness() != AccountingRecord.Witness.ACCOUNTING;
      if (ofBoth && JobState.parse(row.rawState()) != row.state()) {
        differing.add(
            ("task %s of %s left a result that says %s (%s), slurmctld says %s; the result is"
                    + " taken")
                .formatted(row.tasks(), row.name(), row.state(), row.exitCode(), row.rawState()));
      }
    }
    return differing;
  }

  /**
   * Returns for each task how many attempts have begun, from the files of the jobs.
   *
   * <p>The first attempt leaves a claim; attempt n leaves a result with n - 1 in its name, unless
   * it was killed with SIGKILL. Claims of a refused or closed submission are ignored, because it is
   * not known how they ended.
   */
  private static Map<Integer, Integer> attempts(RunFolder run, Submission submission) {
    Map<Integer, Integer> attempts = new TreeMap<>();
    if (!submission.failed()) {
      run.claimed(submission.key()).forEach(task -> attempts.put(task, 1));
    }
    for (Path file : run.results(submission.key())) {
      String[] part = file.getFileName().toString().split("\\.", -1);
      attempts.merge(Integer.parseInt(part[0]), Integer.parseInt(part[1]) + 1, Math::max);
    }
    return attempts;
  }

  private static Instant lastSign(RunFolder run, RunState journal) {
    Instant last = Instant.EPOCH;
    for (Submission submission : journal.submissions()) {
      Instant answered = submission.answered().orElse(submission.intended());
      last = answered.isAfter(last) ? answered : last;
      for (Path file : run.results(submission.key())) {
        Instant written = DurableFiles.written(file);
        last = written.isAfter(last) ? written : last;
      }
    }
    return last;
  }

  /** Returns whether accounting may still receive the missing rows. */
  boolean accountingMayBeLate(RunOutcome outcome, Instant now) {
    Instant last = outcome.end().orElse(lastSign);
    return !missing.isEmpty() && last.plus(PATIENCE).isAfter(now);
  }

  /** Returns the first differences, and a line that counts the others. */
  public List<String> told() {
    List<String> all = new ArrayList<>(missing);
    all.addAll(differing);
    int more = all.size() - MOST;
    if (more > 0) {
      all.subList(MOST, all.size()).clear();
      all.add("and " + more + " more");
    }
    return all;
  }
}
