package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import java.util.ArrayList;
import java.util.List;

/** Implements {@code pipeline cancel}: ends all runs of a pipeline that have not ended. */
public record CancelPipeline(Context context) {
  /**
   * Cancels a pipeline. Later stages come first, so that none of them starts because an earlier
   * stage ends.
   *
   * @param problems receives lines that somebody should look at
   * @return the names of the stages whose runs were asked to end
   * @throws SchedulerUnavailable if the scheduler cannot be asked. The journals keep the requests
   */
  public List<String> cancel(PipelineFolder folder, List<String> problems) {
    folder.requireOwn();
    List<PipelineFile.Stage> stages = new ArrayList<>(PipelineFile.read(folder).stages());
    stages.removeIf(stage -> stage.reused() || !context.workspace().isOpen(stage.run()));
    try {
      // A run that has ended in the scheduler is not cancelled.
      new ReconcileRuns(context).reconcile(stages.stream().map(PipelineFile.Stage::run).toList());
    } catch (SchedulerUnavailable outage) {
      // The requests are recorded in any case, and the next call of the scheduler fails, too.
      problems.add(String.valueOf(outage.getMessage()));
    }
    stages.removeIf(stage -> !context.workspace().isOpen(stage.run()));
    List<RunFolder> runs = new ArrayList<>();
    stages.forEach(stage -> runs.add(0, context.workspace().run(stage.run())));
    new CancelRun(context)
        .cancel(
            runs,
            (run, jobs) ->
                // A run without a job ends here; the others when the scheduler has ended their
                // jobs.
                problems.addAll(
                    new ReconcileRuns(context).reconcile(List.of(run.id())).problems()));
    new AdvancePipelines(context).advance(folder, problems);
    return stages.stream().map(PipelineFile.Stage::name).toList();
  }
}
