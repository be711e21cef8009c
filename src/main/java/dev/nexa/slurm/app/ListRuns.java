package dev.nexa.slurm.app;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.Workspace;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code runs list}: the runs of the workspace, from their manifests alone; no scheduler is asked.
 */
public final class ListRuns {
  private final Nexa nexa;

  public ListRuns(Nexa nexa) {
    this.nexa = nexa;
  }

  /** The newest runs' manifests, newest first. */
  public List<JsonObject> newest(int limit) {
    Workspace workspace = nexa.workspace();
    List<JsonObject> manifests = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      RunFolder run = workspace.run(id);
      if (manifests.size() < limit && Files.exists(run.manifest())) {
        manifests.add(Json.parseObject(DurableFiles.read(run.manifest())));
      }
    }
    return manifests;
  }
}
