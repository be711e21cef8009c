package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.pipeline.run.PipelineLookup;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.ProgressFile;
import dev.nexa.slurm.pipeline.run.ReadProgress;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm pipeline status}. */
final class PipelineStatusCommand extends Subcommand {
  private final PositionalParamSpec id = PipelineOptions.id(this);
  private final OptionSpec json = jsonFlag();

  PipelineStatusCommand() {
    super(
        "status",
        "Prints each stage of a pipeline: its run, state, tasks, cost, and why it waits.",
        "nexa-slurm pipeline status",
        "nexa-slurm pipeline status pipeline_20261101_143200");
  }

  @Override
  public Integer call() {
    Context context = existing();
    List<String> problems = new ArrayList<>();
    PipelineProgress progress =
        new ReadProgress(context)
            .of(new PipelineLookup(context.workspace()).find(PipelineOptions.id(id)), problems);
    problems.forEach(err()::println);
    return answer(
        json,
        () -> ProgressFile.of(progress),
        () -> printTable(new ProgressText(context.workspace(), style()).of(progress)));
  }
}
