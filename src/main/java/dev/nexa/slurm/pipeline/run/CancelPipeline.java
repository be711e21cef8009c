package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import java.util.ArrayList;
import java.util.List;
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
    // A run that has ended in the scheduler is not cancelled.
    new ReconcileRuns(context).reconcile(open);
    for (int i = stages.size() - 1; i >= 0; i--) {
      PipelineFile.Stage stage = stages.get(i);
      RunFolder run = context.workspace().run(stage.run());
      if (run.isOpen()) {
        new CancelRun(context).cancel(run, OptionalInt.empty());
        asked.add(0, stage.name());
        // A run without a job ends here; the others end when the scheduler has ended their jobs.
        problems.addAll(new ReconcileRuns(context).reconcile(List.of(run.id())).problems());
      }
    }
    new AdvancePipelines(context).advance(folder, problems);
    return asked;
  }
}
