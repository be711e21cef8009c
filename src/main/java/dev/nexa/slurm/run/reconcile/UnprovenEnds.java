package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that have begun, and whose end has no proof. Either slurmctld has lost the job, or
 * accounting says that the job completed and the job itself does not say so. Each job claims its
 * task when it begins, and notes its end.
 *
 * @param told a sentence for each such task, by task
 * @param mayCome whether a job may still have noted its end: over NFS that appears later than the
 *     end in accounting
 */
record UnprovenEnds(Map<Integer, String> told, boolean mayCome) {
  private static final Duration LATE = Duration.ofMinutes(2);

  static UnprovenEnds of(RunFolder run, RunState journal, RunOutcome outcome, Instant asked) {
    Map<Integer, String> told = new TreeMap<>();
    boolean mayCome = false;
    Map<Integer, Submission> newest = journal.newest();
    for (TaskOutcome task : outcome.tasks()) {
      Submission own = newest.get(task.task());
      boolean gone = !task.ended() && !task.queued() && own != null && own.missed().isPresent();
      if (own == null || own.failed() || !(task.completed() || gone)) {
        continue;
      }
      Optional<Long> holder = run.holder(own.key(), task.task());
      AccountingRecord row = last(task);
      boolean nothing = holder.isEmpty() && (task.completed() || row == null);
      if (nothing || (task.completed() && isProven(run, own, task.task()))) {
        continue;
      }
      boolean late = row != null && row.ended() && row.end().get().plus(LATE).isAfter(asked);
      if (late && own.missed().isEmpty()) {
        mayCome = true;
      } else {
        told.put(task.task(), sentence(run, task, holder, row));
      }
    }
    return new UnprovenEnds(told, mayCome);
  }

  private static @Nullable AccountingRecord last(TaskOutcome task) {
    return task.attempts().isEmpty() ? null : task.attempts().get(task.attempts().size() - 1);
  }

  /** Returns whether the job noted that it completed: in done/, or in its last result. */
  private static boolean isProven(RunFolder run, Submission submission, int task) {
    if (run.isDone(task)) {
      return true;
    }
    Optional<Path> result =
        run.results(submission.key()).stream()
            .filter(file -> file.getFileName().toString().startsWith(task + "."))
            .max(Comparator.comparingInt(UnprovenEnds::restart));
    try {
      return result.isPresent()
          && Json.parseObject(DurableFiles.read(result.get())).number("exit_code") == 0;
    } catch (IllegalArgumentException | UncheckedIOException unreadable) {
      return false;
    }
  }

  private static int restart(Path result) {
    return Integer.parseInt(result.getFileName().toString().split("\\.", -1)[1]);
  }

  private static String sentence(
      RunFolder run, TaskOutcome task, Optional<Long> job, @Nullable AccountingRecord row) {
    String accounting =
        row == null
            ? "accounting has no row of it"
            : "accounting says "
                + row.rawState()
                + (row.ended() ? ", but the job noted no end" : " without an end");
    return ("task %s: it is not known how it ended. %s, the queue does not list it,"
            + " and %s. Look at its log; `nexa-slurm cancel %s` then ends the run,"
            + " and `nexa-slurm rerun --failed %s` runs the task again")
        .formatted(
            task.task(),
            job.map(id -> "Job " + id + " began it").orElse("It had not begun"),
            accounting,
            run.id(),
            run.id());
  }
}
