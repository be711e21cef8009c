package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The lines about a {@code pipeline run} that a signal has ended. */
final class InterruptedPipeline {
  private InterruptedPipeline() {}

  /**
   * Returns the lines, read from the journals of the stages.
   *
   * @param id the pipeline's id; empty if pipeline.json was not written, so that no stage is ever
   *     submitted
   */
  static String text(Workspace workspace, Optional<String> id) {
    if (id.isEmpty()) {
      return "interrupted: nothing was submitted";
    }
    PipelineFile file = PipelineFile.read(workspace.pipeline(id.get()));
    List<String> lines = new ArrayList<>();
    lines.add("interrupted: " + id.get() + " was begun, and goes on. Do not run it again.");
    for (PipelineFile.Stage stage : file.stages()) {
      if (!stage.reused()) {
        RunState state = RunState.of(workspace.run(stage.run()).journal().read());
        lines.add("  " + stage.name() + "  " + stage.run() + "  " + jobs(state));
      }
    }
    lines.add(
        "The next `nexa-slurm reconcile` looks for jobs that are not known, and submits the other stages.");
    lines.add("  nexa-slurm pipeline status " + id.get());
    lines.add("  nexa-slurm pipeline cancel " + id.get());
    return String.join("\n", lines);
  }

  private static String jobs(RunState state) {
    List<String> ids = new ArrayList<>();
    boolean unknown = false;
    for (Submission submission : state.submissions()) {
      submission.jobId().ifPresent(job -> ids.add("" + job));
      unknown |= submission.unresolved();
    }
    if (unknown) {
      return "it is not known whether there is a job";
    }
    return ids.isEmpty()
        ? "not submitted yet"
        : (ids.size() == 1 ? "job " : "jobs ") + String.join(", ", ids);
  }
}
