package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.Scheduler;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * {@code interrupt}: a rehearsed preemption, as PreemptMode=REQUEUE without grace time makes it:
 * running tasks are ended and queued again.
 */
public final class InterruptRun {
  private final Nexa nexa;

  public InterruptRun(Nexa nexa) {
    this.nexa = nexa;
  }

  /** Interrupts the run's running tasks, or one of them; tells which. */
  public List<String> interrupt(RunFolder run, OptionalInt task) {
    RerunTasks.requireStaged(run);
    if (run.planJson().number("requeues") == 0) {
      throw new NexaException(
          ExitCode.USAGE,
          run.id() + " may not be queued again: a preemption would end it",
          "give its config requeues: 1 or more");
    }
    Scheduler scheduler = nexa.scheduler(RunLookup.scheduler(run));
    try (FileLock lock = CancelRun.lock(run)) {
      List<String> interrupted = new ArrayList<>();
      RunState state = RunState.of(run.journal().read());
      List<QueueEntry> queue = lock.holds() ? scheduler.queue() : List.of();
      for (Submission submission : state.submissions()) {
        for (QueueEntry entry : queue) {
          boolean ours = entry.name().equals(submission.key());
          boolean meant = task.isEmpty() || entry.task() + submission.offset() == task.getAsInt();
          if (ours && meant && entry.state() == JobState.RUNNING) {
            requireOneLeft(run, submission, entry.task() + submission.offset());
            scheduler.requeue(entry.arrayJobId(), entry.task());
            interrupted.add(entry.arrayJobId() + "_" + entry.task());
          }
        }
      }
      if (interrupted.isEmpty()) {
        throw new NexaException(
            ExitCode.USAGE,
            (task.isEmpty() ? "no task of " + run.id() : "task " + task.getAsInt())
                + " is running at this moment",
            "`nexa-slurm status " + run.id() + "` tells what it does");
      }
      return interrupted;
    }
  }

  /** Each attempt before the one that runs has left its result. */
  private static void requireOneLeft(RunFolder run, Submission submission, int task) {
    long allowed = run.planJson().number("requeues");
    long used = 0;
    for (Path result : run.results(submission.key())) {
      Path name = result.getFileName();
      used += name != null && name.toString().startsWith(task + ".") ? 1 : 0;
    }
    if (used >= allowed) {
      throw new NexaException(
          ExitCode.USAGE,
          "task " + task + " of " + run.id() + " has been queued again " + used + " times already",
          "that is all its requeues allow; a preemption would end it now");
    }
  }
}
