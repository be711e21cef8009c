package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Markdown;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.Plural;
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
import java.util.StringJoiner;
import java.util.stream.Collectors;

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
    StringJoiner after = new StringJoiner(", ");
    stage
        .after()
        .forEach(
            (name, on) ->
                after.add(on == PipelineConfig.Condition.AFTEROK ? name : on.text() + ":" + name));
    return after.toString();
  }

  private static String heading(PipelinePlan plan) {
    String most = plan.atMost();
    String stages = Plural.of(plan.stages().size(), "stage") + " of " + plan.config().name();
    String probably = plan.expected().map(money -> ", probably " + money).orElse("");
    String begin = Character.toUpperCase(most.charAt(0)) + most.substring(1);
    return begin + " for " + stages + probably + ".";
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
    end(plan, budgets).lines().forEach(line -> text.append(Markdown.text(line)).append("\n"));
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
    String approval =
        plan.needsApproval() ? "Needs an approval: over " : "No approval needed: up to ";
    String chain =
        "The longest chain of stages takes at most %s, and the time in the queue.\n%s%s.\n"
            .formatted(TimeLimit.words(plan.longest()), approval, plan.policy().approvalOver());
    return budgets.stream()
        .map(budget -> (budget.over() ? "Over " : "In ") + budget.sentence() + ".\n")
        .collect(Collectors.joining("", chain, ""));
  }

  static JsonObject json(Context context, PipelinePlan plan, List<BudgetClaim> budgets) {
    List<JsonObject> stages =
        plan.stages().stream()
            .map(
                stage ->
                    stage(stage.stage())
                        .with("tasks", stage.prepared().estimate().tasks())
                        .with("notes", stage.notes())
                        .with("estimate", stage.prepared().estimateFile(context).json()))
            .toList();
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
