package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.pipeline.run.PipelineProgress.StageProgress;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.RerunTasks;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.start.Submitted;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Implements {@code pipeline resume}: runs again the tasks that did not complete, in the order of
 * the stages. A stage that waits keeps its job.
 *
 * @param approval the approval's file, if the pipeline's own does not cover the tasks
 */
public record ResumePipeline(Context context, Optional<String> approval) {
  /**
   * Resumes a pipeline.
   *
   * @param say receives a line for each stage: what is done with it, and why
   * @param problems receives lines that somebody should look at
   * @return whether a stage is run again
   * @throws NexaException if an approval is missing, or if a stage's files were changed
   */
  public boolean resume(PipelineFolder folder, Consumer<String> say, List<String> problems) {
    AdvancePipelines advance = new AdvancePipelines(context);
    PipelineProgress progress = advance.advance(folder, problems).orElseThrow(() -> other(folder));
    new StopHalted(context).requireNone(progress);
    List<RunId> unseen =
        progress.stages().stream()
            .filter(one -> one.ended() && context.workspace().isOpen(one.stage().run()))
            .map(one -> one.stage().run())
            .toList();
    if (!unseen.isEmpty()) {
      // A rerun needs final records. A job that only vanished is submitted again by the pass.
      new ReconcileRuns(context).reconcile(unseen);
      progress = new ReadProgress(context).of(folder, problems);
    }
    boolean any = false;
    for (StageProgress stage : progress.stages()) {
      String name = stage.stage().name();
      if (stage.isSkipped()) {
        say.accept(name + ": it is not needed, because nothing has failed");
      } else if (stage.done()) {
        say.accept(name + (stage.completed() ? ": it has completed" : ": it was stopped"));
      } else if (!stage.ended() && isBeingCancelled(stage)) {
        throw ErrorCode.RUN_NOT_SETTLED.error(
            name + " is being cancelled, and its job has not ended yet",
            Advice.command("again in a minute", "nexa-slurm", "pipeline", "resume", folder.id()));
      } else if (!stage.ended()) {
        say.accept(name + ": it goes on (" + stage.state() + ")");
      } else {
        // The mark comes before the rerun: a later stage can be refused, and passes must still go
        // on with this stage.
        folder.markOpen();
        say.accept(name + ": " + again(stage));
        any = true;
      }
    }
    if (any) {
      // The stages that wait now wait for the new jobs.
      advance.advance(folder, problems);
    }
    return any;
  }

  private boolean isBeingCancelled(StageProgress stage) {
    return RunState.of(context.workspace().run(stage.stage().run()).journal().read())
        .cancelRequested();
  }

  private String again(StageProgress stage) {
    Submitted submitted =
        new RerunTasks(context, approval)
            .rerunUnfinished(context.workspace().run(stage.stage().run()));
    String jobs =
        submitted.answers().stream()
            .map(
                answer ->
                    answer instanceof SubmitAnswer.Submitted job
                        ? "job " + job.jobId()
                        : "no job yet: `nexa-slurm reconcile` submits it")
            .collect(Collectors.joining(", "));
    return "%s, because it ended as %s (%s)"
        .formatted(submitted.notes().get(0), stage.state(), jobs);
  }

  private static NexaException other(PipelineFolder folder) {
    return ErrorCode.RUN_OF_ANOTHER_USER.error(
        folder.id() + " belongs to another user: only that user can resume it", "ask that user");
  }
}
