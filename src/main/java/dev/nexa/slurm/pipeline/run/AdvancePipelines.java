package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.reconcile.EarlierJobs;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The part of a reconcile pass that is about pipelines: submits stages whose turn has come, makes
 * waiting jobs wait for the right jobs, and writes the pipelines' manifests.
 */
public record AdvancePipelines(Context context) {

  /**
   * Advances all of this user's pipelines that have not ended. A failure of one pipeline is a
   * problem of that pipeline only.
   *
   * @param problems receives lines that somebody should look at
   */
  public void advance(List<String> problems) {
    for (PipelineFolder folder : context.workspace().openPipelines()) {
      try {
        advance(folder, problems);
      } catch (SchedulerUnavailable outage) {
        // The pass over the runs reports it.
        return;
      } catch (RuntimeException failed) {
        problems.add(folder.id() + ": " + failed.getMessage());
      }
    }
  }

  /**
   * Advances one pipeline.
   *
   * @return how far it is now; empty if it is another user's
   */
  public Optional<PipelineProgress> advance(PipelineFolder folder, List<String> problems) {
    if (folder.isOfAnotherUser()) {
      return Optional.empty();
    }
    PipelineFile file = PipelineFile.read(folder);
    Map<PipelineFile.Stage, RunState> open = new LinkedHashMap<>();
    List<RunId> unmade = new ArrayList<>();
    for (PipelineFile.Stage stage : file.stages()) {
      RunFolder run = context.workspace().run(stage.run());
      if (run.isOpen()) {
        RunState state = RunState.of(run.journal().read());
        open.put(stage, state);
        if (!state.unsubmitted(stage.tasks(), 1).indices().isEmpty()) {
          unmade.add(stage.run());
        }
      }
    }
    if (!unmade.isEmpty()) {
      // In the order of the stages: a stage needs the jobs of the stages before it.
      problems.addAll(new ReconcileRuns(context).reconcile(unmade).problems());
    }
    repoint(file, open, problems);
    PipelineProgress progress = new ReadProgress(context).of(folder, problems);
    if (end(progress)) {
      progress = new ReadProgress(context).of(folder, problems);
    }
    StopHalted halted = new StopHalted(context);
    halted.afterFailedGate(progress, problems);
    if (halted.cancelWaiting(progress, problems)) {
      progress = new ReadProgress(context).of(folder, problems);
    }
    for (PipelineProgress.StageProgress stage : progress.stages()) {
      if (stage.isBlocked()) {
        problems.add(
            ("%s: %s is blocked, because %s; `nexa-slurm pipeline resume %s` runs again what"
                    + " failed")
                .formatted(folder.id(), stage.stage().name(), stage.why(), folder.id()));
      }
    }
    write(folder, progress, problems);
    return Optional.of(progress);
  }

  /** Makes waiting jobs wait for the jobs that the earlier stages have now. */
  private void repoint(
      PipelineFile file, Map<PipelineFile.Stage, RunState> open, List<String> problems) {
    Map<PipelineFile.Stage, RunState> waiting = new LinkedHashMap<>(open);
    waiting.values().removeIf(state -> state.after().isEmpty() || state.cancelRequested());
    if (waiting.isEmpty()) {
      return;
    }
    Scheduler scheduler = context.scheduler(file.scheduler());
    TaskEvidence evidence = TaskEvidence.gather(scheduler, open.values());
    EarlierJobs jobs = new EarlierJobs(context.workspace(), scheduler, Optional.of(evidence));
    waiting.forEach(
        (stage, state) -> {
          for (Submission submission : state.current()) {
            if (submission.jobId().isPresent() && submission.link().equals("0")) {
              repoint(stage, state, submission, scheduler, evidence, jobs, problems);
            }
          }
        });
  }

  private void repoint(
      PipelineFile.Stage stage,
      RunState state,
      Submission submission,
      Scheduler scheduler,
      TaskEvidence evidence,
      EarlierJobs jobs,
      List<String> problems) {
    List<QueueEntry> queue = evidence.queue(submission);
    if (queue.stream()
            .filter(entry -> entry.state() == JobState.PENDING)
            .noneMatch(entry -> entry.reason().startsWith("Dependency"))
        || !(jobs.of(state.after()) instanceof EarlierJobs.Waits now)) {
      return;
    }
    if (queue.stream().noneMatch(QueueEntry::neverStarts)
        && ids(submission.dependency()).containsAll(ids(now.dependency()))) {
      return;
    }
    RunFolder run = context.workspace().run(stage.run());
    try (FileLock held = run.lock(Duration.ZERO).orElse(null)) {
      if (held == null || !held.holds() || !RunState.of(run.journal().read()).equals(state)) {
        return;
      }
      scheduler.dependOn(submission.jobId().orElseThrow(), now.dependency());
      run.journal()
          .append(
              Event.now(
                  Event.Type.REPOINTED,
                  new JsonObject()
                      .with("key", submission.key())
                      .with("dependency", now.dependency())));
      problems.add(
          stage.run()
              + (now.dependency().isEmpty()
                  ? ": what it waits for has ended well; it may start now"
                  : ": it waits for "
                      + now.dependency()
                      + " now, because an earlier stage runs again"));
    }
  }

  private static Set<String> ids(String dependency) {
    return Arrays.stream(dependency.split("[,:]", -1))
        .filter(word -> !word.isEmpty() && Character.isDigit(word.charAt(0)))
        .collect(Collectors.toSet());
  }

  /** Ends stages that are not needed, and stages after a gate that failed. */
  private boolean end(PipelineProgress progress) {
    List<PipelineProgress.StageProgress> ending = progress.ending();
    for (PipelineProgress.StageProgress stage : ending) {
      RunFolder run = context.workspace().run(stage.stage().run());
      new CancelRun(context).cancel(run, OptionalInt.empty());
      new ReconcileRuns(context).reconcile(List.of(run.id()));
    }
    return !ending.isEmpty();
  }

  /** Returns whether the records of all runs that have ended are final. */
  boolean isSettled(PipelineProgress progress) {
    return progress.stages().stream()
        .noneMatch(stage -> stage.ended() && context.workspace().run(stage.stage().run()).isOpen());
  }

  private void write(PipelineFolder folder, PipelineProgress progress, List<String> problems) {
    folder.writeManifest(Json.pretty(ProgressFile.of(progress)));
    if (progress.ended() && isSettled(progress)) {
      // Before the mark: if the process dies in between, the next pass records the same event.
      new EndOfPipeline(context).record(progress, problems);
      folder.markClosed();
    }
  }
}
