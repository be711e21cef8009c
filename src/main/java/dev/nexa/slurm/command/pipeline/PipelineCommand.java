package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.PipelineConfig;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm pipeline}. */
public final class PipelineCommand extends Subcommand {
  public PipelineCommand() {
    super(
        "pipeline",
        "Plans and prices runs that wait for each other.",
        "nexa-slurm pipeline estimate configs/pipelines/distill.yaml",
        "nexa-slurm pipeline graph configs/pipelines/distill.yaml --mermaid");
    spec().addSubcommand("estimate", new EstimateCommand().spec());
    spec().addSubcommand("graph", new GraphCommand().spec());
  }

  @Override
  public Integer call() {
    throw new ParameterException(
        spec().commandLine(), "`pipeline estimate FILE` or `pipeline graph FILE`");
  }

  private static PositionalParamSpec.Builder file() {
    return PositionalParamSpec.builder().paramLabel("FILE").type(String.class).required(true);
  }

  /** The command {@code pipeline estimate}. */
  private static final class EstimateCommand extends Subcommand {
    private final PositionalParamSpec file =
        add(file(), "The pipeline's YAML file: here, in the workspace, or in the jar.");
    private final OptionSpec overrides =
        add(
            OptionSpec.builder("--set")
                .paramLabel("STAGE.KEY=VALUE")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .initialValue(new ArrayList<>()),
            "Overrides a key of a stage's config, such as train.lr=1e-5; may be given often.");
    private final OptionSpec cluster =
        option(
            "--cluster",
            "NAME",
            "Uses the profile configs/clusters/NAME.yaml for all stages. Default: the pipeline's `cluster`, else each config's.");
    private final OptionSpec local = flag("--local", "Plans for this machine, without Slurm.");
    private final OptionSpec json = jsonFlag();

    EstimateCommand() {
      super(
          "estimate",
          "Prints the most that all stages together can cost, with a line for each. Submits nothing.",
          "nexa-slurm pipeline estimate configs/pipelines/distill.yaml",
          "nexa-slurm pipeline estimate configs/pipelines/distill.yaml --set train.resources.time=2h --json");
    }

    @Override
    public Integer call() {
      Context context = context();
      PipelinePlan plan = PipelinePlan.of(context, request());
      List<BudgetClaim> budgets = plan.budgets(context);
      for (PipelinePlan.PlannedStage stage : plan.stages()) {
        for (String note : stage.notes()) {
          err().println("note: " + stage.stage().name() + ": " + note);
        }
      }
      out()
          .print(
              given(json)
                  ? Json.pretty(PipelineText.json(context, plan, budgets))
                  : PipelineText.of(plan, budgets));
      return ExitCode.OK.status();
    }

    private PipelinePlan.Request request() {
      if (given(local) && cluster.getValue() != null) {
        throw new NexaException(
            ErrorCode.OPTIONS_CONFLICT,
            "--local and --cluster " + cluster.getValue() + " name different clusters",
            Advice.step("leave one of them out"));
      }
      return new PipelinePlan.Request(
          file.getValue(),
          overrides.getValue(),
          given(local) ? Optional.of("local") : Optional.ofNullable(cluster.getValue()));
    }
  }

  /** The command {@code pipeline graph}. */
  private static final class GraphCommand extends Subcommand {
    private final PositionalParamSpec file =
        add(file(), "The pipeline's YAML file: here, in the workspace, or in the jar.");
    private final OptionSpec mermaid =
        flag("--mermaid", "Prints a flowchart in Mermaid's language, as for a README.");
    private final OptionSpec json = jsonFlag();

    GraphCommand() {
      super(
          "graph",
          "Prints the stages in their order, and the stages that each stage waits for.",
          "nexa-slurm pipeline graph configs/pipelines/distill.yaml",
          "nexa-slurm pipeline graph configs/pipelines/distill.yaml --mermaid");
    }

    @Override
    public Integer call() {
      if (given(json) && given(mermaid)) {
        throw new NexaException(
            ErrorCode.OPTIONS_CONFLICT,
            "--json and --mermaid are two forms of one answer",
            Advice.step("leave one of them out"));
      }
      PipelineConfig pipeline = context().configs().pipeline(file.getValue());
      out()
          .print(
              given(json)
                  ? Json.pretty(GraphText.json(pipeline))
                  : given(mermaid) ? GraphText.mermaid(pipeline) : GraphText.table(pipeline));
      return ExitCode.OK.status();
    }
  }
}
