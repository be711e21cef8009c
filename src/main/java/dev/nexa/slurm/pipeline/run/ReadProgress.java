package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.RunRow;
import dev.nexa.slurm.run.reconcile.StatusRows;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads how far pipelines are. Asks the scheduler only about runs that have not ended. */
public final class ReadProgress {
  private final Context context;

  public ReadProgress(Context context) {
    this.context = context;
  }

  /**
   * Returns the progress of a pipeline.
   *
   * @param problems receives a line for each run that cannot be read
   */
  public PipelineProgress of(PipelineFolder folder, List<String> problems) {
    PipelineFile file = PipelineFile.read(folder);
    StatusRows status = new StatusRows(context);
    Map<RunId, String> open = new HashMap<>();
    Map<String, RunRow> rows = new HashMap<>();
    Map<String, String> gates = new HashMap<>();
    for (PipelineFile.Stage stage : file.stages()) {
      RunFolder run = context.workspace().run(stage.run());
      if (run.isOpen() || !Files.exists(run.manifest())) {
        open.put(stage.run(), stage.name());
        if (!run.isOfAnotherUser()) {
          status.asking(file.scheduler());
        }
      } else {
        ended(run, stage.name(), rows, gates, problems);
      }
    }
    if (!open.isEmpty()) {
      List<RunId> ids = new ArrayList<>(open.keySet());
      for (RunRow row : status.rows(ids, problems)) {
        rows.put(open.getOrDefault(new RunId(row.runId()), ""), row);
      }
    }
    return PipelineProgress.of(file, rows, gates);
  }

  /**
   * Returns the progress of a pipeline without a question to a scheduler.
   *
   * @param known the rows of the runs that have not ended
   * @param problems receives a line for each run that cannot be read
   */
  public PipelineProgress of(
      PipelineFolder folder, Map<RunId, RunRow> known, List<String> problems) {
    PipelineFile file = PipelineFile.read(folder);
    Map<String, RunRow> rows = new HashMap<>();
    Map<String, String> gates = new HashMap<>();
    for (PipelineFile.Stage stage : file.stages()) {
      RunFolder run = context.workspace().run(stage.run());
      RunRow row = known.get(stage.run());
      if (!run.isOpen() && Files.exists(run.manifest())) {
        ended(run, stage.name(), rows, gates, problems);
      } else if (row != null) {
        rows.put(stage.name(), row);
      }
    }
    return PipelineProgress.of(file, rows, gates);
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
