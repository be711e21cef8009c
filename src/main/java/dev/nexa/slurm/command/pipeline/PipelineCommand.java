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
    spec().addSubcommand("estimate", new PipelineEstimateCommand().spec());
    spec().addSubcommand("graph", new PipelineGraphCommand().spec());
    spec().addSubcommand("run", new RunPipelineCommand().spec());
    spec().addSubcommand("status", new PipelineStatusCommand().spec());
    spec().addSubcommand("list", new PipelineListCommand().spec());
    spec().addSubcommand("cancel", new PipelineCancelCommand().spec());
    spec().addSubcommand("resume", new PipelineResumeCommand().spec());
  }
}
