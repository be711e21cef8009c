package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.run.Context;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm pipeline estimate}. */
final class PipelineEstimateCommand extends Subcommand {
  private final PipelineOptions options = new PipelineOptions(this);
  private final OptionSpec markdown = flag("--markdown", "Prints Markdown, as for a pull request.");
  private final OptionSpec json = jsonFlag();

  PipelineEstimateCommand() {
    super(
        "estimate",
        "Prints the most that all stages together can cost, with a line for each. Submits nothing.",
        "nexa-slurm pipeline estimate configs/pipelines/distill.yaml",
        "nexa-slurm pipeline estimate configs/pipelines/distill.yaml --markdown >cost.md",
        "nexa-slurm pipeline estimate configs/pipelines/distill.yaml --set train.resources.time=2h --json");
  }

  @Override
  protected void work() {
    Context context = context();
    if (given(markdown) && given(json)) {
      throw conflict("--json and --markdown are two forms of one answer", "leave one of them out");
    }
    PipelinePlan plan = PipelinePlan.of(context, options.request());
    if (given(markdown)) {
      notes(this, plan);
      print(PipelineText.markdown(plan, plan.budgets(context)));
    } else {
      print(this, context, plan, given(json));
    }
  }

  static void print(Subcommand command, Context context, PipelinePlan plan, boolean json) {
    List<BudgetClaim> budgets = plan.budgets(context);
    notes(command, plan);
    command.print(
        json
            ? Json.pretty(PipelineText.json(context, plan, budgets))
            : PipelineText.of(plan, budgets));
  }

  /** Prints how the stages were planned. */
  static void notes(Subcommand command, PipelinePlan plan) {
    for (PipelinePlan.PlannedStage stage : plan.stages()) {
      stage.notes().forEach(note -> command.note(stage.stage().name() + ": " + note));
    }
  }
}
