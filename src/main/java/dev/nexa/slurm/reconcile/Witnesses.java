package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.AccountingRecord;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Accounting and the jobs themselves, held against each other: each attempt that came to its end
 * has left a result, so accounting must know at least as many.
 *
 * @param missing what accounting does not tell of, a sentence for each task
 */
record Witnesses(List<String> missing) {
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
      for (Map.Entry<Integer, Integer> told : results(run, submission.key()).entrySet()) {
        int attempts = known.getOrDefault(told.getKey(), 0);
        if (told.getValue() > attempts) {
          missing.add(
              "task "
                  + told.getKey()
                  + " of "
                  + submission.key()
                  + " left the results of "
                  + told.getValue()
                  + " attempts, accounting tells of "
                  + attempts);
        }
      }
    }
    return new Witnesses(missing);
  }

  /** By task, how many attempts left a result. */
  private static Map<Integer, Integer> results(RunFolder run, String key) {
    Map<Integer, Integer> results = new TreeMap<>();
    for (Path file : run.results(key)) {
      String name = file.getFileName().toString();
      results.merge(Integer.parseInt(name.substring(0, name.indexOf('.'))), 1, Integer::sum);
    }
    return results;
  }

  boolean agree() {
    return missing.isEmpty();
  }

  /** Whether accounting may still be catching up with what ended last. */
  boolean accountingMayBeLate(RunOutcome outcome, Instant now) {
    Instant last = Manifest.ended(outcome).orElse(Instant.EPOCH);
    return !agree() && (last.equals(Instant.EPOCH) || last.plus(PATIENCE).isAfter(now));
  }

  /** The first of what is missing, and how much more there is. */
  List<String> told() {
    if (missing.size() <= MOST) {
      return missing;
    }
    List<String> told = new ArrayList<>(missing.subList(0, MOST));
    told.add("and " + (missing.size() - MOST) + " more");
    return told;
  }
}
