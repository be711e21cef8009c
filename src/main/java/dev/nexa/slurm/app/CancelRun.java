package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** {@code cancel}: ends a run's jobs, now and should one still turn up. */
public final class CancelRun {
  private final Nexa nexa;

  public CancelRun(Nexa nexa) {
    this.nexa = nexa;
  }

  /** Cancels the run or one task of it; tells which jobs were asked to end. */
  public List<String> cancel(RunFolder run, OptionalInt task) {
    Scheduler scheduler = nexa.scheduler(RunLookup.scheduler(run));
    try (FileLock held = lock(run)) {
      RunState state = RunState.of(run.journal().read());
      if (state.finished() || !held.holds()) {
        throw new NexaException(
            ExitCode.USAGE,
            run.id() + " has already ended",
            "`nexa-slurm runs show " + run.id() + "` tells how");
      }
      if (task.isEmpty() && !state.cancelRequested()) {
        run.journal().append(Event.now(Event.Type.CANCEL_REQUESTED, new JsonObject()));
      }
      try {
        return cancel(scheduler, state, task);
      } catch (SchedulerUnavailable outage) {
        if (task.isPresent()) {
          throw outage;
        }
        throw new SchedulerUnavailable(
            String.valueOf(outage.getMessage()),
            "that the run is to end is written down: `nexa-slurm reconcile` ends its jobs");
      }
    }
  }

  /** The right to act on a run, for a person who waits. */
  static FileLock lock(RunFolder run) {
    return run.lock(Duration.ofSeconds(20))
        .orElseThrow(
            () ->
                new NexaException(
                    ExitCode.SCHEDULER,
                    run.id() + " is being submitted or reconciled at this moment",
                    "try again in a minute"));
  }

  private static List<String> cancel(Scheduler scheduler, RunState state, OptionalInt task) {
    List<String> asked = new ArrayList<>();
    if (task.isPresent()) {
      // Each link of a chain holds it.
      for (Submission submission : state.submissions()) {
        boolean holds = submission.tasks().indices().contains(task.getAsInt());
        if (holds && submission.jobId().isPresent()) {
          long id = submission.jobId().get();
          int index = task.getAsInt() - submission.offset();
          scheduler.cancel(submission.key(), id, OptionalInt.of(index));
          asked.add(id + "_" + index);
        }
      }
      return asked;
    }
    for (Submission submission : state.submissions()) {
      if (submission.jobId().isPresent()) {
        scheduler.cancel(submission.key(), submission.jobId().get(), OptionalInt.empty());
        asked.add("" + submission.jobId().get());
      }
    }
    return asked;
  }
}
