package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.pipeline.run.PipelineLookup;
import dev.nexa.slurm.pipeline.run.ResumePipeline;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm pipeline resume}. */
final class PipelineResumeCommand extends Subcommand {
  private final PositionalParamSpec id = PipelineOptions.id(this);
  private final OptionSpec approval = approval();

  PipelineResumeCommand() {
    super(
        "resume",
        "Runs again the tasks of a pipeline that did not complete; says why for each stage.",
        "nexa-slurm pipeline resume",
        "nexa-slurm pipeline resume pipeline_20261101_143200");
  }

  @Override
  public Integer call() {
    Context context = existing();
    PipelineFolder folder = new PipelineLookup(context.workspace()).find(PipelineOptions.id(id));
    List<String> problems = new ArrayList<>();
    boolean any =
        new ResumePipeline(context, Optional.ofNullable(approval.getValue()))
            .resume(folder, out()::println, problems);
    problems.forEach(err()::println);
    say(
        any
            ? advised("  nexa-slurm pipeline status " + folder.id())
            : folder.id() + ": nothing is left to run again");
    return ExitCode.OK.status();
  }
}
