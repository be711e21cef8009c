package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.PipelineConfig;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm pipeline graph}. */
final class PipelineGraphCommand extends Subcommand {
  private final PositionalParamSpec file = PipelineOptions.file(this);
  private final OptionSpec mermaid =
      flag("--mermaid", "Prints a flowchart in Mermaid's language, as for a README.");
  private final OptionSpec json = jsonFlag();

  PipelineGraphCommand() {
    super(
        "graph",
        "Prints the stages in their order, and the stages that each stage waits for.",
        "nexa-slurm pipeline graph configs/pipelines/distill.yaml",
        "nexa-slurm pipeline graph configs/pipelines/distill.yaml --mermaid");
  }

  @Override
  public Integer call() {
    if (given(json) && given(mermaid)) {
      throw conflict("--json and --mermaid are two forms of one answer", "leave one of them out");
    }
    PipelineConfig pipeline = context().configs().pipeline(file.getValue());
    return answer(
        json,
        () -> GraphText.json(pipeline),
        () ->
            out().print(given(mermaid) ? GraphText.mermaid(pipeline) : GraphText.table(pipeline)));
  }
}
