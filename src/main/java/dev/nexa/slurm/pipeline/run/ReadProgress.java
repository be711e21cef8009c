package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.StatusRows;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads how far pipelines are. Asks the scheduler only about runs that have not ended. */
public record ReadProgress(Context context) {
  /**
   * Returns the progress of a pipeline.
   *
   * @param problems receives a line for each run that cannot be read
   */
  public PipelineProgress of(PipelineFolder folder, List<String> problems) {
    PipelineFile file = PipelineFile.read(folder);
    StatusRows status = new StatusRows(context);
    List<RunId> open = new ArrayList<>();
    for (PipelineFile.Stage stage : file.stages()) {
      RunFolder run = context.workspace().run(stage.run());
      if (!hasEnded(run)) {
        open.add(stage.run());
        if (!run.isOfAnotherUser()) {
          status.asking(file.scheduler());
        }
      }
    }
    Map<RunId, RunRow> known = new HashMap<>();
    if (!open.isEmpty()) {
      status.rows(open, problems).forEach(row -> known.put(new RunId(row.runId()), row));
    }
    return of(file, known, problems);
  }

  /**
   * Returns the progress of a pipeline without a question to a scheduler.
   *
   * @param known the rows of the runs that have not ended
   * @param problems receives a line for each run that cannot be read
   */
  public PipelineProgress of(
      PipelineFolder folder, Map<RunId, RunRow> known, List<String> problems) {
    return of(PipelineFile.read(folder), known, problems);
  }

  private PipelineProgress of(PipelineFile file, Map<RunId, RunRow> known, List<String> problems) {
    Map<String, RunRow> rows = new HashMap<>();
    Map<String, String> gates = new HashMap<>();
    for (PipelineFile.Stage stage : file.stages()) {
      RunFolder run = context.workspace().run(stage.run());
      RunRow row = known.get(stage.run());
      if (hasEnded(run)) {
        ended(run, stage.name(), rows, gates, problems);
      } else if (row != null) {
        rows.put(stage.name(), row);
      }
    }
    return PipelineProgress.of(file, rows, gates);
  }

  private static boolean hasEnded(RunFolder run) {
    return !run.isOpen() && Files.exists(run.manifest());
  }

  /** Adds a run that has ended. A manifest that cannot be read leaves the stage unknown. */
  private static void ended(
      RunFolder run,
      String stage,
      Map<String, RunRow> rows,
      Map<String, String> gates,
      List<String> problems) {
    try {
      ManifestFile manifest = ManifestFile.read(run);
      rows.put(stage, RunRow.ended(manifest));
      manifest.failedGate().ifPresent(why -> gates.put(stage, why));
    } catch (RuntimeException broken) {
      rows.remove(stage);
      problems.add(run.manifest() + " is broken: " + broken.getMessage());
    }
  }
}
