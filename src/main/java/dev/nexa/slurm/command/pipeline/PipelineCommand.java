package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.command.shared.CommandGroup;

/** The command {@code nexa-slurm pipeline}. */
public final class PipelineCommand extends CommandGroup {
  public PipelineCommand() {
    super(
        "pipeline",
        "Plans, prices and submits runs that wait for each other.",
        "`pipeline run FILE`, `estimate`, `graph`, `status`, `list`, `cancel` or `resume`",
        "nexa-slurm pipeline estimate configs/pipelines/distill.yaml",
        "nexa-slurm pipeline run configs/pipelines/distill.yaml",
        "nexa-slurm pipeline status");
    subcommands(
        new PipelineEstimateCommand(),
        new PipelineGraphCommand(),
        new RunPipelineCommand(),
        new PipelineStatusCommand(),
        new PipelineListCommand(),
        new PipelineCancelCommand(),
        new PipelineResumeCommand());
  }
}
