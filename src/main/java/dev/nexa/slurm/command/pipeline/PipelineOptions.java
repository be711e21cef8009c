package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.pipeline.run.PipelineLookup;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.run.Context;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The pipeline's file and the options that change its plan. */
final class PipelineOptions {
  private final PositionalParamSpec file;
  private final OptionSpec overrides;
  private final OptionSpec cluster;
  private final OptionSpec local;

  PipelineOptions(Subcommand command) {
    file = file(command);
    overrides =
        command.options(
            "--set STAGE.KEY=VALUE",
            "Overrides a key of a stage's config, such as train.lr=1e-5; may be given often.");
    cluster =
        command.option(
            "--cluster NAME",
            "Uses the profile configs/clusters/NAME.yaml for all stages. Default: the pipeline's `cluster`, else each config's.");
    local = command.flag("--local", "Uses this machine, without Slurm.");
  }

  /** Adds the parameter FILE. */
  static PositionalParamSpec file(Subcommand command) {
    return command.parameter(
        "FILE", "The pipeline's YAML file: here, in the workspace, or in the jar.");
  }

  /** Adds the optional parameter ID. */
  static PositionalParamSpec id(Subcommand command) {
    return command.optionalParameter(
        "ID",
        "The pipeline's id, or a name: the newest pipeline of that name. Default: the newest pipeline.");
  }

  /** Returns the pipeline whose id or name was typed; the newest one without an ID. */
  static PipelineFolder find(Context context, PositionalParamSpec id) {
    return new PipelineLookup(context.workspace()).find(Subcommand.value(id).orElse("latest"));
  }

  PipelinePlan.Request request() {
    if (Subcommand.given(local) && cluster.getValue() != null) {
      throw Subcommand.conflict(
          "--local and --cluster " + cluster.getValue() + " name different clusters",
          "leave one of them out");
    }
    return new PipelinePlan.Request(
        file.getValue(),
        overrides.getValue(),
        Subcommand.given(local) ? Optional.of("local") : Subcommand.value(cluster));
  }
}
