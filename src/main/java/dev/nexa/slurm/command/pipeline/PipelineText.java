package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Markdown;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.pipeline.plan.PipelinePlan.PlannedStage;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Formats a pipeline's estimate. */
final class PipelineText {
  private static final Columns<PlannedStage> COLUMNS =
      new Columns<PlannedStage>()
          .text("stage", row -> row.stage().name())
          .text("after", row -> after(row.stage()))
          .text("config", row -> row.stage().config())
          .number("tasks", row -> row.prepared().estimate().tasks())
          .text("each", row -> row.prepared().plan().allocation().hardware())
          .text(
              "time_limit", row -> TimeLimit.format(row.prepared().plan().allocation().timeLimit()))
          .text(
              "total",
              row -> row.total().cell(CostLine.unrounded(row.prepared().estimate().reservation())))
          .right()
          .as("AT MOST")
          .money("expected", row -> row.expected().map(Money::amount).orElse(null));

  private PipelineText() {}

  /** Returns what a stage waits for, as its file may say it. */
  static String after(PipelineConfig.Stage stage) {
    List<String> after = new ArrayList<>();
    stage
        .after()
        .forEach(
            (name, condition) ->
                after.add(
                    condition == PipelineConfig.Condition.AFTEROK
                        ? name
                        : condition.text() + ":" + name));
    return String.join(", ", after);
  }

  private static String heading(PipelinePlan plan) {
    String most = plan.atMost();
    return Character.toUpperCase(most.charAt(0))
        + most.substring(1)
        + " for "
        + counted(plan.stages().size(), "stage")
        + " of "
        + plan.config().name()
        + plan.expected().map(money -> ", probably " + money).orElse("")
        + ".";
  }

  /**
   * Returns Markdown for a comment of a pull request: the stages with the highest cost first, as
   * many as fit, and how many are left out.
   */
  static String markdown(PipelinePlan plan, List<BudgetClaim> budgets) {
    List<PlannedStage> dearest = new ArrayList<>(plan.stages());
    dearest.sort(Comparator.comparing((PlannedStage stage) -> stage.total().amount()).reversed());
    StringBuilder text = new StringBuilder("### ").append(Markdown.text(heading(plan)));
    text.append("\n\n").append(COLUMNS.of(dearest).commentTable()).append('\n');
    for (String line : end(plan, budgets).lines().toList()) {
      text.append(Markdown.text(line)).append("\n");
    }
    return text.toString();
  }

  static String of(PipelinePlan plan, List<BudgetClaim> budgets) {
    StringBuilder text = new StringBuilder(heading(plan));
    text.append("\n\n").append(COLUMNS.of(plan.stages()).table());
    for (PlannedStage stage : plan.stages()) {
      Estimate estimate = stage.prepared().estimate();
      if (estimate.apiTokens().isPresent()) {
        text.append("\nAPI tokens of ").append(stage.stage().name()).append(": ");
        text.append(estimate.apiTokens().get().words());
        text.append(", ").append(estimate.tokensCost()).append(".\n");
      }
      if (stage.prepared().egress().isPresent()) {
        text.append("\nStage ").append(stage.stage().name()).append(": ");
        text.append(stage.prepared().egress().get().sentence(estimate.rates())).append(".\n");
      }
    }
    return text.append('\n').append(end(plan, budgets)).toString();
  }

  private static String end(PipelinePlan plan, List<BudgetClaim> budgets) {
    StringBuilder text = new StringBuilder();
    text.append("The longest chain of stages takes at most ")
        .append(TimeLimit.words(plan.longest()))
        .append(", and the time in the queue.\n");
    text.append(plan.needsApproval() ? "Needs an approval: over " : "No approval needed: up to ")
        .append(plan.policy().approvalOver())
        .append(".\n");
    for (BudgetClaim budget : budgets) {
      text.append(budget.over() ? "Over " : "In ").append(budget.sentence()).append(".\n");
    }
    return text.toString();
  }

  static String counted(int number, String noun) {
    return number == 1 ? "1 " + noun : number + " " + noun + "s";
  }

  static JsonObject json(Context context, PipelinePlan plan, List<BudgetClaim> budgets) {
    List<JsonObject> stages = new ArrayList<>();
    for (PlannedStage stage : plan.stages()) {
      stages.add(
          stage(stage.stage())
              .with("tasks", stage.prepared().estimate().tasks())
              .with("notes", stage.notes())
              .with("estimate", stage.prepared().estimateFile(context).json()));
    }
    return JsonObject.ofVersion(1)
        .with("name", plan.config().name())
        .with("file", plan.config().file())
        .with("stages", stages)
        .with("total", plan.total().amount().toPlainString())
        .with("expected", plan.expected().map(money -> money.amount().toPlainString()).orElse(null))
        .with("currency", plan.total().currency())
        .with("longest_seconds", plan.longest().toSeconds())
        .with("approval_needed", plan.needsApproval())
        .with("budgets", BudgetClaim.toJson(budgets));
  }

  /** Returns a stage's name, config and conditions. */
  static JsonObject stage(PipelineConfig.Stage stage) {
    List<JsonObject> after = new ArrayList<>();
    stage
        .after()
        .forEach(
            (name, condition) ->
                after.add(new JsonObject().with("stage", name).with("type", condition.text())));
    return new JsonObject()
        .with("stage", stage.name())
        .with("config", stage.config())
        .with("after", after);
  }
}
