package dev.nexa.slurm.app;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.RunFacts;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.reconcile.TaskOutcome;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which tasks of a run are over, and how each ended.
 *
 * @param ends by task
 * @param all whether nothing more will happen to the run
 */
record EndedTasks(Map<Integer, End> ends, boolean all) {
  static final EndedTasks NONE = new EndedTasks(Map.of(), false);

  /**
   * How a task ended.
   *
   * @param state as accounting prints it
   * @param exitCode {@code exit:signal}; empty where it never began
   */
  record End(String state, String exitCode) {
    boolean well() {
      return JobState.parse(state) == JobState.COMPLETED;
    }
  }

  /**
   * Of a finished run, from its cost file; else as the scheduler tells it now.
   *
   * @throws dev.nexa.slurm.scheduler.SchedulerUnavailable if it can't be asked
   */
  static EndedTasks of(Nexa nexa, RunFolder run) {
    RunState state = RunState.of(run.journal().read());
    return state.finished() ? kept(run) : asked(nexa, run, state);
  }

  private static EndedTasks kept(RunFolder run) {
    Map<Integer, End> ends = new TreeMap<>();
    if (!Files.exists(run.cost())) {
      return new EndedTasks(ends, true);
    }
    Set<Long> jobs = new HashSet<>();
    LogFiles.of(run).jobs().forEach(job -> jobs.add(job.id()));
    for (JsonObject attempt :
        RecordFile.read(run.cost(), cost -> cost.object("actual").objects("attempts"))) {
      // They are in order, so that a task's last one counts; a duplicate's ended at the claim.
      if (jobs.contains(attempt.number("array_job_id"))) {
        End end = new End(attempt.text("state"), attempt.text("exit_code"));
        ends.put((int) attempt.number("task"), end);
      }
    }
    return new EndedTasks(ends, true);
  }

  private static EndedTasks asked(Nexa nexa, RunFolder run, RunState state) {
    Evidence evidence = Evidence.gather(nexa.scheduler(RunLookup.scheduler(run)), List.of(state));
    RunOutcome outcome = evidence.outcome(run, RunFacts.of(run), state, new ArrayList<>());
    Map<Integer, End> ends = new TreeMap<>();
    for (TaskOutcome task : outcome.tasks()) {
      if (task.ended()) {
        ends.put(task.task(), end(task));
      }
    }
    return new EndedTasks(ends, outcome.ended());
  }

  private static End end(TaskOutcome task) {
    if (task.attempts().isEmpty()) {
      return new End(task.state().name(), "");
    }
    AccountingRecord last = task.attempts().get(task.attempts().size() - 1);
    return new End(last.rawState(), last.ran() ? last.exitCode() : "");
  }

  /** The tasks that did not end well, by number; those that somebody cancelled after the others. */
  Map<Integer, End> failed() {
    Map<Integer, End> failed = new LinkedHashMap<>();
    Map<Integer, End> cancelled = new LinkedHashMap<>();
    ends.forEach(
        (task, end) -> {
          if (!end.well()) {
            boolean stopped = JobState.parse(end.state()) == JobState.CANCELLED;
            (stopped ? cancelled : failed).put(task, end);
          }
        });
    failed.putAll(cancelled);
    return failed;
  }
}
