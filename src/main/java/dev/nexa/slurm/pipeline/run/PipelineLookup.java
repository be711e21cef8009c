package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.Workspace;
import java.util.List;

/** Finds the pipeline that a user names. */
public record PipelineLookup(Workspace workspace) {
  private static final String LATEST = "latest";

  /**
   * Returns a pipeline.
   *
   * @param typed an id, {@code latest} for the newest pipeline, or a name for the newest pipeline
   *     of that name
   * @throws NexaException if there is no such pipeline
   */
  public PipelineFolder find(String typed) {
    List<PipelineFolder> all = workspace.allPipelines();
    if (typed.equals(LATEST) && !all.isEmpty()) {
      return all.get(all.size() - 1);
    }
    List<String> ids = all.stream().map(PipelineFolder::id).toList();
    if (ids.contains(typed)) {
      return all.get(ids.indexOf(typed));
    }
    for (int i = all.size() - 1; i >= 0; i--) {
      if (PipelineFile.read(all.get(i)).name().equals(typed)) {
        return all.get(i);
      }
    }
    throw ErrorCode.PIPELINE_UNKNOWN.error(
        all.isEmpty()
            ? "there is no pipeline in " + workspace.root()
            : "there is no pipeline '" + typed + "'" + Nearest.hint(typed, ids),
        all.isEmpty()
            ? Advice.step("`nexa-slurm pipeline run FILE` makes one")
            : Advice.command("shows them", "nexa-slurm", "pipeline", "list"));
  }
}
