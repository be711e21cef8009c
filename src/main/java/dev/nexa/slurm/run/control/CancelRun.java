package dev.nexa.slurm.run.control;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.BiConsumer;

/**
 * Implements {@code cancel}: ends a run's jobs. A job of the run that appears later is cancelled by
 * reconcile.
 */
public record CancelRun(Context context) {
  /**
   * Cancels the run, or one task of it.
   *
   * @param task the task; empty for the whole run
   * @return the ids that were passed to scancel; for a task, {@code JOB_INDEX}
   * @throws NexaException with {@link ExitCode#USAGE} if the run has already ended
   * @throws SchedulerUnavailable if the scheduler cannot be asked. The journal keeps a request to
   *     cancel the whole run
   */
  public List<String> cancel(RunFolder run, OptionalInt task) {
    Scheduler scheduler =
        context.scheduler(
            RunLookup.scheduler(run),
            "nothing was cancelled, and no request was recorded: the job goes on");
    try (FileLock held = lock(run)) {
      RunState state = RunState.of(run.journal().read());
      if (state.finished() || !held.holds()) {
        throw ErrorCode.RUN_NOT_SUITABLE.error(
            run.id() + " has already ended",
            Advice.command("shows how it ended", "nexa-slurm", "runs", "show", run.id()));
      }
      if (task.isPresent() && !ProvenFiles.of(run).plan().groups().isEmpty()) {
        throw ErrorCode.RUN_NOT_SUITABLE.error(
            "Slurm ends the groups of a job together",
            Advice.command("ends all of them", "nexa-slurm", "cancel", run.id()));
      }
      if (task.isEmpty()) {
        request(run, state);
      }
      try {
        return cancel(scheduler, state, task);
      } catch (SchedulerUnavailable outage) {
        throw task.isPresent() ? outage : requested(outage);
      }
    }
  }

  /**
   * Cancels runs in this order. First of all the request of each is recorded, so that an outage
   * loses none.
   *
   * @param done receives each run that was still open, and the ids that were passed to scancel
   * @throws SchedulerUnavailable if the scheduler cannot be asked. The journals keep the requests
   */
  public void cancel(List<RunFolder> runs, BiConsumer<RunFolder, List<String>> done) {
    for (RunFolder run : runs) {
      try (FileLock held = lock(run)) {
        RunState state = RunState.of(run.journal().read());
        if (held.holds() && !state.finished()) {
          request(run, state);
        }
      }
    }
    try {
      for (RunFolder run : runs) {
        if (run.isOpen()) {
          done.accept(run, cancel(run, OptionalInt.empty()));
        }
      }
    } catch (SchedulerUnavailable outage) {
      throw requested(outage);
    }
  }

  private static void request(RunFolder run, RunState state) {
    if (!state.cancelRequested()) {
      run.journal().append(Event.now(Event.Type.CANCEL_REQUESTED, new JsonObject()));
    }
  }

  private static SchedulerUnavailable requested(SchedulerUnavailable outage) {
    return new SchedulerUnavailable(
        outage.code(),
        String.valueOf(outage.getMessage()),
        Advice.command(
            "ends the jobs when Slurm answers: that they are to end is written down",
            "nexa-slurm",
            "reconcile"));
  }

  /**
   * Takes the run's lock for its owner; waits for up to 20 seconds.
   *
   * @throws NexaException with {@link ErrorCode#RUN_OF_ANOTHER_USER}, or with {@link
   *     ErrorCode#WORKSPACE_BUSY} if another process holds the lock
   */
  static FileLock lock(RunFolder run) {
    run.requireOwn();
    return run.lock(Duration.ofSeconds(20))
        .orElseThrow(
            () ->
                ErrorCode.WORKSPACE_BUSY.error(
                    run.id() + " is being submitted or reconciled at this moment",
                    "try again in a minute"));
  }

  private static List<String> cancel(Scheduler scheduler, RunState state, OptionalInt task) {
    List<String> asked = new ArrayList<>();
    for (Submission submission : state.submissions()) {
      // Every link of a chain holds the task.
      boolean holds = task.isEmpty() || submission.tasks().indices().contains(task.getAsInt());
      if (holds && submission.jobId().isPresent()) {
        long id = submission.jobId().get();
        OptionalInt index = task.isEmpty() ? task : submission.index(task.getAsInt());
        scheduler.cancel(submission.key(), id, index);
        asked.add(id + (index.isEmpty() ? "" : "_" + index.getAsInt()));
      }
    }
    return asked;
  }
}
