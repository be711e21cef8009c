package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.pipeline.run.CancelPipeline;
import dev.nexa.slurm.pipeline.run.PipelineLookup;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm pipeline cancel}. */
final class PipelineCancelCommand extends Subcommand {
  private final PositionalParamSpec id = PipelineOptions.id(this);

  PipelineCancelCommand() {
    super(
        "cancel",
        "Ends all runs of a pipeline that have not ended.",
        "nexa-slurm pipeline cancel pipeline_20261101_143200");
  }

  @Override
  public Integer call() {
    Context context = existing();
    PipelineFolder folder = new PipelineLookup(context.workspace()).find(PipelineOptions.id(id));
    List<String> problems = new ArrayList<>();
    List<String> stages = new CancelPipeline(context).cancel(folder, problems);
    problems.forEach(err()::println);
    say(
        stages.isEmpty()
            ? folder.id() + ": all stages have already ended"
            : folder.id() + ": asked " + String.join(", ", stages) + " to end");
    if (!stages.isEmpty()) {
      say(advised("  nexa-slurm reconcile  # writes the manifests and cost files"));
    }
    return ExitCode.OK.status();
  }
}
