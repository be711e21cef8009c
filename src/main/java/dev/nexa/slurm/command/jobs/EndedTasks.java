package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.command.shared.RunRecordFile;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.LogFiles;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.reconcile.TaskOutcome;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.WaitReason;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The tasks of a run that have ended.
 *
 * @param ends how each task ended, by task
 * @param all whether nothing more will happen to the run
 * @param waits why no task has begun; empty if one has, or if no reason is known
 * @param stuck whether no waiting task can ever start, because of an earlier run
 */
record EndedTasks(Map<Integer, End> ends, boolean all, Optional<String> waits, boolean stuck) {
  static final EndedTasks NONE = new EndedTasks(Map.of(), false, Optional.empty(), false);

  /**
   * The end of a task.
   *
   * @param state the state as sacct prints it
   * @param exitCode {@code exit:signal}; empty if the task never began
   */
  record End(String state, String exitCode) {
    boolean well() {
      return JobState.parse(state) == JobState.COMPLETED;
    }
  }

  /**
   * Returns the ended tasks, from the cost file of a finished run, else from the scheduler.
   *
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the scheduler cannot be asked
   */
  static EndedTasks of(Context context, RunFolder run) {
    RunState state = RunState.of(run.journal().read());
    return state.finished() ? readCostFile(run) : askScheduler(context, run, state);
  }

  private static EndedTasks readCostFile(RunFolder run) {
    Map<Integer, End> ends = new TreeMap<>();
    if (Files.exists(run.cost())) {
      Set<Long> jobs = new HashSet<>();
      LogFiles.of(run).jobs().forEach(job -> jobs.add(job.id()));
      // Attempts are in order, so a task's last one counts. An attempt of a duplicate job did no
      // work.
      RunRecordFile.cost(run, CostFile::attempts).stream()
          .filter(one -> jobs.contains(one.arrayJobId()))
          .forEach(one -> ends.put((int) one.task(), new End(one.state(), one.exitCode())));
    }
    return new EndedTasks(ends, true, Optional.empty(), false);
  }

  private static EndedTasks askScheduler(Context context, RunFolder run, RunState state) {
    TaskEvidence evidence =
        TaskEvidence.gather(context.scheduler(RunLookup.scheduler(run)), List.of(state));
    RunOutcome outcome = evidence.outcome(run, RunFacts.shown(run), state, new ArrayList<>());
    Map<Integer, End> ends = new TreeMap<>();
    outcome.tasks().stream()
        .filter(TaskOutcome::ended)
        .forEach(task -> ends.put(task.task(), end(task)));
    List<QueueEntry> queue = evidence.queue(state);
    return new EndedTasks(
        ends, outcome.ended(), waits(run, state, outcome, queue), RunRow.stuck(queue));
  }

  private static Optional<String> waits(
      RunFolder run, RunState journal, RunOutcome outcome, List<QueueEntry> queue) {
    if (outcome.tasks().stream()
        .anyMatch(task -> task.ended() || task.state() != JobState.PENDING)) {
      return Optional.empty();
    }
    return queue.stream()
        .filter(entry -> entry.state() == JobState.PENDING)
        .findFirst()
        .map(entry -> WaitReason.sentence(run.id().value(), journal, entry, Map.of()));
  }

  private static End end(TaskOutcome task) {
    if (task.attempts().isEmpty()) {
      return new End(task.state().name(), "");
    }
    AccountingRecord last = task.attempts().get(task.attempts().size() - 1);
    return new End(last.rawState(), last.ran() ? last.exitCode() : "");
  }

  /** Returns whether nothing more will happen to the task. */
  boolean isOver(int task) {
    return all || ends.containsKey(task);
  }

  /** Returns the tasks that did not succeed, by number; cancelled tasks come last. */
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
