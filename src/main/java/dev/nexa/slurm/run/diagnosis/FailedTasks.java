package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.LogFiles;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.reconcile.TaskOutcome;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * The tasks of a run that did not end well.
 *
 * @param state the run's state in detail, in lower case
 * @param attempts the last attempt of each of these tasks; the attempt that ended first comes
 *     first, and cancelled tasks come last
 * @param doubts a sentence for each task that ended in an unknown way
 * @param queue the run's entries in the queue; empty for a finished run
 */
record FailedTasks(
    String state, List<EndedAttempt> attempts, List<String> doubts, List<QueueEntry> queue) {
  private static final Comparator<EndedAttempt> ORDER =
      Comparator.comparing((EndedAttempt one) -> one.state() == JobState.CANCELLED)
          .thenComparing(one -> one.end().orElse(Instant.MAX))
          .thenComparing(EndedAttempt::task);

  /**
   * Reads the cost file of a finished run; of another run it asks the scheduler.
   *
   * @param problems receives a line if the scheduler cannot be asked; then no task is known
   */
  static FailedTasks of(
      Context context, RunFolder run, RunState journal, RunFacts facts, List<String> problems) {
    if (journal.finished() && Files.exists(run.manifest())) {
      try {
        return settled(run);
      } catch (IllegalArgumentException broken) {
        problems.add(broken.getMessage() + "; `nexa-slurm audit --repair` writes it again");
      }
    }
    try {
      TaskEvidence evidence =
          TaskEvidence.gather(context.scheduler(facts.place().scheduler()), List.of(journal));
      RunOutcome outcome = evidence.outcome(run, facts, journal, problems);
      List<String> doubts = outcome.ended() ? List.of() : outcome.disagreements();
      return new FailedTasks(
          outcome.state(), lastAttempts(outcome), doubts, evidence.queue(journal));
    } catch (SchedulerUnavailable outage) {
      problems.add("the scheduler cannot be asked: " + outage.getMessage());
      return new FailedTasks("not known", List.of(), List.of(), List.of());
    }
  }

  private static FailedTasks settled(RunFolder run) {
    ManifestFile manifest = ManifestFile.read(run);
    List<Long> jobs = LogFiles.of(run).jobs().stream().map(LogFiles.Job::id).toList();
    Map<Integer, EndedAttempt> last = new TreeMap<>();
    Map<String, Integer> earlier = new HashMap<>();
    if (Files.exists(run.cost())) {
      for (CostFile.Attempt attempt : CostFile.read(run).attempts()) {
        // An attempt of a duplicate job did no work. After a resize, an attempt goes on.
        boolean goesOn = JobState.parse(attempt.state()) == JobState.RESIZING;
        if (jobs.contains(attempt.arrayJobId()) && !goesOn) {
          int restart =
              earlier.merge(attempt.arrayJobId() + "_" + attempt.task(), 1, Integer::sum) - 1;
          last.put((int) attempt.task(), EndedAttempt.of(restart, attempt));
        }
      }
    }
    List<EndedAttempt> failed = new ArrayList<>(last.values());
    failed.removeIf(attempt -> attempt.state() == JobState.COMPLETED);
    if (last.isEmpty() && !manifest.state().equals("completed")) {
      failed.add(
          EndedAttempt.neverBegan(0, JobState.parse(manifest.state().toUpperCase(Locale.ROOT))));
    }
    failed.sort(ORDER);
    return new FailedTasks(manifest.state(), failed, List.of(), List.of());
  }

  private static List<EndedAttempt> lastAttempts(RunOutcome outcome) {
    return outcome.tasks().stream()
        .filter(task -> task.state() != JobState.COMPLETED)
        .flatMap(task -> last(task).stream())
        .sorted(ORDER)
        .toList();
  }

  /** Returns the last attempt that ended without success; empty if the task may still run. */
  private static Optional<EndedAttempt> last(TaskOutcome task) {
    Optional<EndedAttempt> last = Optional.empty();
    Map<Long, Integer> earlier = new HashMap<>();
    for (AccountingRecord row : task.attempts()) {
      boolean goesOn = row.state() == JobState.RESIZING;
      if (row.ended() && row.state() != JobState.COMPLETED && !goesOn) {
        int restart = row.ran() ? earlier.merge(row.arrayJobId(), 1, Integer::sum) - 1 : 0;
        last = Optional.of(EndedAttempt.of(task.task(), restart, row));
      }
    }
    return last.isPresent() || !task.ended()
        ? last
        : Optional.of(EndedAttempt.neverBegan(task.task(), task.state()));
  }

  /** Returns the attempt of the named task, or of the task that failed first. */
  Optional<EndedAttempt> first(OptionalInt task) {
    return attempts.stream()
        .filter(attempt -> task.isEmpty() || task.getAsInt() == attempt.task())
        .findFirst();
  }
}
