package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Accounting and the jobs themselves, held against each other: who began has left a claim, who came
 * to its end a result, so accounting must know at least as many attempts.
 *
 * @param missing what accounting does not tell of, a sentence for each task
 * @param differing of a cluster without accounting: what a task's result and slurmctld tell
 *     otherwise
 * @param lastSign when the jobs' newest result was written
 */
record Witnesses(List<String> missing, List<String> differing, Instant lastSign) {
  /** slurmctld keeps messages for a slurmdbd that is down; longer than this and they are lost. */
  private static final Duration PATIENCE = Duration.ofHours(1);

  private static final int MOST = 20;

  static Witnesses of(RunFolder run, RunState journal, RunOutcome outcome) {
    Map<String, Map<Integer, Integer>> rows = new HashMap<>();
    for (AccountingRecord row : outcome.attempts()) {
      Map<Integer, Integer> byTask = rows.computeIfAbsent(row.name(), key -> new HashMap<>());
      for (int task : row.tasks().indices()) {
        byTask.merge(task, 1, Integer::sum);
      }
    }
    List<String> missing = new ArrayList<>();
    for (Submission submission : journal.submissions()) {
      Map<Integer, Integer> known = rows.getOrDefault(submission.key(), Map.of());
      for (Map.Entry<Integer, Integer> begun : attempts(run, submission).entrySet()) {
        int attempts = known.getOrDefault(begun.getKey(), 0);
        if (begun.getValue() > attempts) {
          missing.add(
              "task "
                  + begun.getKey()
                  + " of "
                  + submission.key()
                  + " began "
                  + begun.getValue()
                  + (begun.getValue() == 1 ? " attempt" : " attempts")
                  + ", accounting tells of "
                  + attempts);
        }
      }
    }
    return new Witnesses(
        missing, differing(outcome), missing.isEmpty() ? Instant.EPOCH : lastSign(run, journal));
  }

  private static List<String> differing(RunOutcome outcome) {
    List<String> differing = new ArrayList<>();
    for (AccountingRecord row : outcome.attempts()) {
      boolean ofBoth = row.witness() != AccountingRecord.Witness.ACCOUNTING;
      if (ofBoth && JobState.parse(row.rawState()) != row.state()) {
        differing.add(
            "task "
                + row.tasks()
                + " of "
                + row.name()
                + " left a result that says "
                + row.state()
                + " ("
                + row.exitCode()
                + "), slurmctld says "
                + row.rawState()
                + "; the result is taken");
      }
    }
    return differing;
  }

  /**
   * By task, how many attempts have begun, as far as the jobs left signs of them: the first leaves
   * a claim, and the n-th a result with n - 1 in its name, where it was not killed outright. (The
   * claims of a submission that was lost with its controller are left out: nobody knows its end.)
   */
  private static Map<Integer, Integer> attempts(RunFolder run, Submission submission) {
    Map<Integer, Integer> attempts = new TreeMap<>();
    if (!submission.failed()) {
      for (int task : run.claimed(submission.key())) {
        attempts.put(task, 1);
      }
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

  boolean agree() {
    return missing.isEmpty();
  }

  /** Whether accounting may still be catching up with what ended last. */
  boolean accountingMayBeLate(RunOutcome outcome, Instant now) {
    Instant last = Manifest.ended(outcome).orElse(lastSign);
    return !agree() && last.plus(PATIENCE).isAfter(now);
  }

  /** The first of what is missing or differs, and how much more there is. */
  List<String> told() {
    List<String> all = new ArrayList<>(missing);
    all.addAll(differing);
    if (all.size() <= MOST) {
      return all;
    }
    List<String> told = new ArrayList<>(all.subList(0, MOST));
    told.add("and " + (all.size() - MOST) + " more");
    return told;
  }
}
