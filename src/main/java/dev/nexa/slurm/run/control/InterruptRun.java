package dev.nexa.slurm.run.control;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Implements {@code interrupt}, a simulated preemption: requeues running tasks as
 * PreemptMode=REQUEUE without grace time does (slurm.conf(5)).
 */
public record InterruptRun(Context context) {
  /**
   * Interrupts the run's running tasks, or one of them.
   *
   * @return the interrupted tasks as {@code JOB_INDEX}, or {@code JOB} of a job of one task; never
   *     empty
   * @throws NexaException if the run allows no requeue, has used them all, or has no running task
   */
  public List<String> interrupt(RunFolder run, OptionalInt task) {
    ProvenFiles files = ProvenFiles.of(run);
    if (!files.staged()) {
      throw RerunTasks.notSubmittedHere(run);
    }
    Optional<EarlierEnd> ended = EarlierEnd.of(context, run, task);
    if (ended.isPresent()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          (task.isEmpty() ? "" : "task " + task.getAsInt() + " of ")
              + run.id()
              + " has ended: "
              + ended.get().state().replace('_', ' ')
              + "; only a running task can be interrupted",
          Advice.command("", "nexa-slurm", "runs", "show", run.id()));
    }
    if (files.plan().requeues() == 0) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          run.id() + " may not be queued again: a preemption would end it",
          "give its config requeues: 1 or more");
    }
    Scheduler scheduler = context.scheduler(RunLookup.scheduler(run));
    try (FileLock lock = CancelRun.lock(run)) {
      List<String> interrupted = new ArrayList<>();
      RunState state = RunState.of(run.journal().read());
      List<QueueEntry> queue = lock.holds() ? scheduler.queue() : List.of();
      for (Submission submission : state.submissions()) {
        for (QueueEntry entry : queue) {
          int number = entry.task() + submission.offset();
          boolean meant = task.isEmpty() || number == task.getAsInt();
          meant &= files.plan().groups().isEmpty() || interrupted.isEmpty();
          if (meant && entry.name().equals(submission.key()) && entry.state() == JobState.RUNNING) {
            requireOneLeft(run, submission, number);
            // The groups of a job are queued again together.
            boolean groups = !files.plan().groups().isEmpty();
            OptionalInt index = groups ? OptionalInt.empty() : submission.index(number);
            if (scheduler.requeue(entry.arrayJobId(), index)) {
              interrupted.add(entry.arrayJobId() + (index.isEmpty() ? "" : "_" + entry.task()));
            }
          }
        }
      }
      if (interrupted.isEmpty()) {
        throw ErrorCode.RUN_NOT_SUITABLE.error(
            (task.isEmpty() ? "no task of " + run.id() : "task " + task.getAsInt())
                + " is running at this moment",
            Advice.command("tells what it does", "nexa-slurm", "status", run.id()));
      }
      return interrupted;
    }
  }

  /**
   * Checks that the task has a requeue left. Each ended attempt of the task has left one result.
   */
  private static void requireOneLeft(RunFolder run, Submission submission, int task) {
    long allowed = ProvenFiles.of(run).plan().requeues();
    long used =
        run.results(submission.key()).stream()
            .filter(result -> result.getFileName().toString().startsWith(task + "."))
            .count();
    if (used >= allowed) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          "task " + task + " of " + run.id() + " has been queued again " + used + " times already",
          "that is all its requeues allow; a preemption would end it now");
    }
  }
}
