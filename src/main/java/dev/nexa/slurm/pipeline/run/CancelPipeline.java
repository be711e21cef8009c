package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Implements {@code pipeline cancel}: ends all runs of a pipeline that have not ended. */
public final class CancelPipeline {
  private final Context context;

  public CancelPipeline(Context context) {
    this.context = context;
  }

  /**
   * Cancels a pipeline. Later stages come first, so that none of them starts because an earlier one
   * ends.
   *
   * @param problems receives lines that somebody should look at
   * @return the names of the stages whose runs were asked to end
   * @throws SchedulerUnavailable if the scheduler cannot be asked. The journals keep the requests
   */
  public List<String> cancel(PipelineFolder folder, List<String> problems) {
    folder.requireOwn();
    List<PipelineFile.Stage> stages = new ArrayList<>(PipelineFile.read(folder).stages());
    List<String> asked = new ArrayList<>();
    stages.removeIf(PipelineFile.Stage::reused);
    List<RunId> open =
        stages.stream()
            .map(PipelineFile.Stage::run)
            .filter(run -> context.workspace().isOpen(run))
            .toList();
    CancelRun cancel = new CancelRun(context);
    Optional<SchedulerUnavailable> outage = Optional.empty();
    try {
      // A run that has ended in the scheduler is not cancelled.
      new ReconcileRuns(context).reconcile(open);
    } catch (SchedulerUnavailable failed) {
      outage = Optional.of(failed);
    }
    // First of all, so that an outage in the middle loses none.
    for (int i = stages.size() - 1; i >= 0; i--) {
      RunFolder run = context.workspace().run(stages.get(i).run());
      if (run.isOpen()) {
        cancel.request(run);
        asked.add(0, stages.get(i).name());
      }
    }
    if (outage.isPresent()) {
      throw CancelRun.requested(outage.get());
    }
    try {
      for (int i = stages.size() - 1; i >= 0; i--) {
        RunFolder run = context.workspace().run(stages.get(i).run());
        if (run.isOpen()) {
          cancel.cancel(run, OptionalInt.empty());
          // A run without a job ends here; the others end when the scheduler has ended their jobs.
          problems.addAll(new ReconcileRuns(context).reconcile(List.of(run.id())).problems());
        }
      }
    } catch (SchedulerUnavailable failed) {
      throw CancelRun.requested(failed);
    }
    new AdvancePipelines(context).advance(folder, problems);
    return asked;
  }
}
